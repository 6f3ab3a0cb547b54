package dev.knee.benchmark;

import java.util.Map;

import org.opensearch.core.tasks.TaskId;
import org.opensearch.tasks.CancellableTask;

/** A BenchmarkTask is a benchmark or one of its requests. Cancelling the benchmark cancels its requests on the other nodes. */
final class BenchmarkTask extends CancellableTask {

    BenchmarkTask(long id, String type, String action, String description, TaskId parent, Map<String, String> headers) {
        super(id, type, action, description, parent, headers);
    }

    @Override
    public boolean shouldCancelChildrenOnCancellation() {
        return true;
    }
}
