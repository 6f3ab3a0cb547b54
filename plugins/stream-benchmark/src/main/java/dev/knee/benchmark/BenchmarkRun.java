package dev.knee.benchmark;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

import org.opensearch.OpenSearchException;
import org.opensearch.cluster.node.DiscoveryNode;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.tasks.TaskCancelledException;
import org.opensearch.tasks.CancellableTask;
import org.opensearch.transport.StreamTransportResponseHandler;
import org.opensearch.transport.TransportException;
import org.opensearch.transport.TransportRequestOptions;
import org.opensearch.transport.TransportService;
import org.opensearch.transport.stream.StreamTransportResponse;

/** A BenchmarkRun is one benchmark. It fails with the first request that fails, since a load with gaps measures something else. */
final class BenchmarkRun {

    private static final TransportRequestOptions STREAM = TransportRequestOptions.builder()
        .withType(TransportRequestOptions.Type.STREAM)
        .build();

    private final Load load;
    private final List<DiscoveryNode> nodes;
    private final TransportService transport;
    private final CancellableTask task;
    private final ActionListener<BenchmarkResponse> listener;
    private final RequestWindow window;
    private final long[] latencies;
    private final LongAdder rows = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final AtomicReference<Exception> failure = new AtomicReference<>();
    private long started;

    BenchmarkRun(
        Load load,
        List<DiscoveryNode> nodes,
        TransportService transport,
        CancellableTask task,
        ActionListener<BenchmarkResponse> listener
    ) {
        this.load = load;
        this.nodes = nodes;
        this.transport = transport;
        this.task = task;
        this.listener = listener;
        this.latencies = new long[load.requests()];
        this.window = new RequestWindow(load.requests(), load.inFlight(), this::send, this::finish);
    }

    void start() {
        started = System.nanoTime();
        window.start();
    }

    private void send(int index) {
        DiscoveryNode node = nodes.get(index % nodes.size());
        Receiver receiver = new Receiver(index, node);
        try {
            TransportRequestOptions options = load.useStreamTransport() ? STREAM : TransportRequestOptions.EMPTY;
            transport.sendChildRequest(node, RowsSender.ACTION, new RowsRequest(load), task, options, receiver);
        } catch (Exception e) {
            receiver.fail(e);
        }
    }

    private void finish() {
        long millis = Math.max(1, Latencies.millis(System.nanoTime() - started));
        if (task.isCancelled()) {
            listener.onFailure(new TaskCancelledException("the benchmark was cancelled: " + task.getReasonCancelled()));
        } else if (failure.get() != null) {
            listener.onFailure(failure.get());
        } else {
            listener.onResponse(
                new BenchmarkResponse(
                    rows.sum(),
                    bytes.sum(),
                    millis,
                    Latencies.summary(latencies),
                    load.parallelRequests(),
                    load.useStreamTransport()
                )
            );
        }
    }

    /** A Receiver takes the rows of one request. It ends once, whatever the transport reports. */
    private final class Receiver implements StreamTransportResponseHandler<Rows> {

        private final int index;
        private final DiscoveryNode node;
        private final long sent = System.nanoTime();
        private final AtomicBoolean ended = new AtomicBoolean();
        private long received;
        private long receivedBytes;
        private long last;

        Receiver(int index, DiscoveryNode node) {
            this.index = index;
            this.node = node;
        }

        @Override
        public Rows read(StreamInput in) throws java.io.IOException {
            return new Rows(in);
        }

        @Override
        public String executor() {
            return StreamBenchmarkPlugin.RECEIVER_POOL;
        }

        /** handleResponse takes the one reply of the regular transport. */
        @Override
        public void handleResponse(Rows reply) {
            take(reply);
            complete();
        }

        /** handleStreamResponse takes the batches of the stream transport. */
        @Override
        public void handleStreamResponse(StreamTransportResponse<Rows> stream) {
            try (stream) {
                for (Rows batch; (batch = stream.nextResponse()) != null;) {
                    take(batch);
                    if (task.isCancelled()) {
                        stream.cancel("the benchmark was cancelled", null);
                        break;
                    }
                }
                complete();
            } catch (Exception e) {
                stream.cancel("a batch could not be read", e);
                fail(e);
            }
        }

        @Override
        public void handleException(TransportException e) {
            fail(e);
        }

        @Override
        public void handleRejection(Exception e) {
            fail(e);
        }

        private void take(Rows message) {
            received += message.count;
            receivedBytes += message.bytes;
            last = System.nanoTime();
        }

        private void complete() {
            long expected = load.rows() * load.rowBytes();
            if (received != load.rows() || receivedBytes != expected) {
                String got = received + " rows with " + receivedBytes + " bytes came, not " + load.rows() + " with " + expected;
                fail(new IllegalStateException(got));
                return;
            }
            if (ended.compareAndSet(false, true)) {
                rows.add(received);
                bytes.add(receivedBytes);
                latencies[index] = last - sent;
                end();
            }
        }

        private void fail(Exception e) {
            if (ended.compareAndSet(false, true)) {
                String what = "request " + (index + 1) + " of " + load.requests() + ", to node [" + node.getName() + "], failed";
                failure.compareAndSet(null, new OpenSearchException(what, e));
                window.stop();
                end();
            }
        }

        private void end() {
            if (task.isCancelled()) {
                window.stop();
            }
            window.requestEnded();
        }
    }
}
