package dev.knee.benchmark;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/**
 * A RequestWindow keeps a number of requests in flight without a lock. Each request that ends starts the next one, in the thread
 * that handled the end, until all requests were sent or the window was stopped.
 */
final class RequestWindow {

    private final int requests;
    private final int inFlight;
    private final IntConsumer send;
    private final Runnable allEnded;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger open;
    private volatile boolean stopped;

    /**
     * @param send sends the request with this index, which must end with exactly one call of {@link #requestEnded}
     * @param allEnded is called once, when every request that was sent has ended
     */
    RequestWindow(int requests, int inFlight, IntConsumer send, Runnable allEnded) {
        this.requests = requests;
        this.inFlight = inFlight;
        this.send = send;
        this.allEnded = allEnded;
        this.open = new AtomicInteger(inFlight);
    }

    /** start sends the first requests, as many as may be in flight. */
    void start() {
        for (int i = 0; i < inFlight; i++) {
            requestEnded(); // each free place takes a request
        }
    }

    /** requestEnded gives the place of a request that ended to the next one. */
    void requestEnded() {
        int index = stopped ? requests : next.getAndIncrement();
        if (index < requests) {
            send.accept(index);
        } else if (open.decrementAndGet() == 0) {
            allEnded.run();
        }
    }

    /** stop sends no more requests; those in flight still end. */
    void stop() {
        stopped = true;
    }
}
