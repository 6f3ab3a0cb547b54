package dev.knee.benchmark;

import java.io.IOException;

import org.opensearch.core.tasks.TaskCancelledException;
import org.opensearch.tasks.CancellableTask;
import org.opensearch.tasks.Task;
import org.opensearch.transport.StreamTransportService;
import org.opensearch.transport.TransportChannel;
import org.opensearch.transport.TransportService;

/** A RowsSender answers RowsRequests on a data node. */
final class RowsSender {

    /** The name of the action. Only nodes may send requests whose action is internal. */
    static final String ACTION = "internal:knee/benchmark/rows";

    private final TransportService regular;

    private RowsSender(TransportService regular) {
        this.regular = regular;
    }

    /** register makes a node answer on the regular transport and, where there is one, on the stream transport. */
    static void register(TransportService regular, StreamTransportService stream) {
        String pool = StreamBenchmarkPlugin.SENDER_POOL;
        RowsSender sender = new RowsSender(regular);
        regular.registerRequestHandler(ACTION, pool, RowsRequest::new, sender::sendReply);
        if (stream != null) {
            stream.registerRequestHandler(ACTION, pool, RowsRequest::new, sender::sendBatches);
        }
    }

    private void sendReply(RowsRequest request, TransportChannel channel, Task task) throws IOException {
        requireThisNode(request);
        requireRunning(task);
        channel.sendResponse(rows(request.load.rows(), request));
    }

    /**
     * sendBatches ends with an exception where the receiver cancels the stream. OpenSearch then answers with an error: the answer
     * gets lost, and without it the task of a cancelled stream can stay registered.
     */
    private void sendBatches(RowsRequest request, TransportChannel channel, Task task) {
        requireThisNode(request);
        for (int left = request.load.rows(); left > 0;) {
            requireRunning(task);
            int count = Math.min(left, request.load.batchSize());
            // true: wait until the batch is in gRPC's buffer, so that at most one batch of a request waits for it
            channel.sendResponseBatch(rows(count, request), true);
            left -= count;
        }
        channel.completeStream();
    }

    private static Rows rows(int count, RowsRequest request) {
        return new Rows(count, count * request.load.rowBytes());
    }

    /**
     * requireThisNode refuses a request that was meant for another node. The stream transport publishes localhost by default: nodes
     * on different hosts then connect to themselves, and the benchmark would measure no network.
     */
    private void requireThisNode(RowsRequest request) {
        if (request.node.equals(regular.getLocalNode().getId()) == false) {
            throw new IllegalStateException(
                "the transport led to the node [" + regular.getLocalNode().getName() + "] instead: set arrow.flight.host to an address "
                    + "that other nodes reach, such as _site_, on every node"
            );
        }
    }

    private static void requireRunning(Task task) {
        if (task instanceof CancellableTask cancellable && cancellable.isCancelled()) {
            throw new TaskCancelledException("the benchmark was cancelled: " + cancellable.getReasonCancelled());
        }
    }
}
