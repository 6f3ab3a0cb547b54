package dev.knee.benchmark;

import java.io.IOException;
import java.util.Map;

import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.tasks.TaskId;
import org.opensearch.tasks.Task;
import org.opensearch.transport.TransportRequest;

/** A RowsRequest asks a data node for rows. */
final class RowsRequest extends TransportRequest {

    final Load load;

    RowsRequest(Load load) {
        this.load = load;
    }

    RowsRequest(StreamInput in) throws IOException {
        super(in);
        load = new Load(in);
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
        super.writeTo(out);
        load.writeTo(out);
    }

    @Override
    public Task createTask(long id, String type, String action, TaskId parent, Map<String, String> headers) {
        return new BenchmarkTask(id, type, action, load.toString(), parent, headers);
    }
}
