package dev.knee.benchmark;

import java.io.IOException;
import java.util.Map;

import org.opensearch.action.ActionRequest;
import org.opensearch.action.ActionRequestValidationException;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.tasks.TaskId;
import org.opensearch.tasks.Task;

/** A BenchmarkRequest asks a node to run one benchmark. */
final class BenchmarkRequest extends ActionRequest {

    final Load load;

    BenchmarkRequest(Load load) {
        this.load = load;
    }

    BenchmarkRequest(StreamInput in) throws IOException {
        super(in);
        load = new Load(in);
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
        super.writeTo(out);
        load.writeTo(out);
    }

    /** validate finds nothing: Load.parse has checked the parameters. */
    @Override
    public ActionRequestValidationException validate() {
        return null;
    }

    @Override
    public Task createTask(long id, String type, String action, TaskId parent, Map<String, String> headers) {
        return new BenchmarkTask(id, type, action, load.toString(), parent, headers);
    }
}
