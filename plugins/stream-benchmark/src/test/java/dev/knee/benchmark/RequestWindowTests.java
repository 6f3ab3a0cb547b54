package dev.knee.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

import org.junit.jupiter.api.Test;

class RequestWindowTests {

    private final Queue<Integer> inFlight = new ArrayDeque<>();
    private final List<Integer> sent = new ArrayList<>();
    private final AtomicInteger ends = new AtomicInteger();

    private RequestWindow window(int requests, int places) {
        return new RequestWindow(requests, places, index -> {
            sent.add(index);
            inFlight.add(index);
        }, ends::incrementAndGet);
    }

    @Test
    void theWindowStaysFullUntilTheLastRequestsAreSent() {
        RequestWindow window = window(10, 4);
        window.start();
        for (int ended = 0; ended < 10; ended++) {
            assertEquals(Math.min(4, 10 - ended), inFlight.size());
            assertEquals(0, ends.get());
            inFlight.remove();
            window.requestEnded();
        }
        assertEquals(List.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), sent);
        assertEquals(1, ends.get());
    }

    @Test
    void aStoppedWindowWaitsForTheRequestsInFlight() {
        RequestWindow window = window(10, 4);
        window.start();
        window.stop();
        for (int i = 0; i < 4; i++) {
            assertEquals(0, ends.get());
            window.requestEnded();
        }
        assertEquals(4, sent.size());
        assertEquals(1, ends.get());
    }

    @Test
    void aWindowThatIsStoppedByItsFirstRequestSendsNoOther() {
        RequestWindow[] window = new RequestWindow[1];
        window[0] = new RequestWindow(100, 8, index -> {
            sent.add(index);
            window[0].stop();
            window[0].requestEnded();
        }, ends::incrementAndGet);
        window[0].start();
        assertEquals(List.of(0), sent);
        assertEquals(1, ends.get());
    }

    @Test
    void threadsThatEndRequestsAtTheSameTimeSendEachRequestOnce() throws InterruptedException {
        int requests = 50_000;
        int places = 20;
        AtomicIntegerArray times = new AtomicIntegerArray(requests);
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch end = new CountDownLatch(1);
        try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
            RequestWindow[] window = new RequestWindow[1];
            window[0] = new RequestWindow(requests, places, index -> {
                most.accumulateAndGet(now.incrementAndGet(), Math::max);
                times.incrementAndGet(index);
                threads.execute(() -> {
                    now.decrementAndGet();
                    window[0].requestEnded();
                });
            }, () -> {
                ends.incrementAndGet();
                end.countDown();
            });
            window[0].start();
            assertTrue(end.await(1, TimeUnit.MINUTES));
        }
        assertEquals(1, ends.get());
        assertTrue(most.get() <= places, "in flight: " + most.get());
        for (int i = 0; i < requests; i++) {
            assertEquals(1, times.get(i));
        }
    }
}
