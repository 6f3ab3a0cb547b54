package dev.knee.benchmark;

import java.io.IOException;

import org.opensearch.core.tasks.TaskCancelledException;
import org.opensearch.tasks.CancellableTask;
import org.opensearch.tasks.Task;
import org.opensearch.transport.StreamTransportService;
import org.opensearch.transport.TransportChannel;
import org.opensearch.transport.TransportService;
import org.opensearch.transport.stream.StreamErrorCode;
import org.opensearch.transport.stream.StreamException;

/** A RowsSender answers RowsRequests on a data node. */
final class RowsSender {

    /** The name of the action. Only nodes may send requests whose action is internal. */
    static final String ACTION = "internal:knee/benchmark/rows";

    private RowsSender() {}

    /** register makes a node answer on the regular transport and, where there is one, on the stream transport. */
    static void register(TransportService regular, StreamTransportService stream) {
        String pool = StreamBenchmarkPlugin.SENDER_POOL;
        regular.registerRequestHandler(ACTION, pool, RowsRequest::new, RowsSender::sendReply);
        if (stream != null) {
            stream.registerRequestHandler(ACTION, pool, RowsRequest::new, RowsSender::sendBatches);
        }
    }

    private static void sendReply(RowsRequest request, TransportChannel channel, Task task) throws IOException {
        requireRunning(task);
        channel.sendResponse(rows(request.load.rows(), request));
    }

    private static void sendBatches(RowsRequest request, TransportChannel channel, Task task) throws IOException {
        try {
            for (int left = request.load.rows(); left > 0;) {
                requireRunning(task);
                int count = Math.min(left, request.load.messageRows());
                // true: wait until the batch is in gRPC's buffer, so that at most one batch of a request waits for it
                channel.sendResponseBatch(rows(count, request), true);
                left -= count;
            }
            channel.completeStream();
        } catch (StreamException e) {
            if (e.getErrorCode() != StreamErrorCode.CANCELLED) { // a stream that was cancelled takes no answer
                throw e;
            }
        }
    }

    private static Rows rows(int count, RowsRequest request) {
        return new Rows(count, count * request.load.rowBytes());
    }

    private static void requireRunning(Task task) {
        if (task instanceof CancellableTask cancellable && cancellable.isCancelled()) {
            throw new TaskCancelledException("the benchmark was cancelled: " + cancellable.getReasonCancelled());
        }
    }
}
