package dev.knee.benchmark;

import java.util.List;
import java.util.function.Supplier;

import org.opensearch.action.ActionRequest;
import org.opensearch.action.ActionType;
import org.opensearch.cluster.metadata.IndexNameExpressionResolver;
import org.opensearch.cluster.node.DiscoveryNodes;
import org.opensearch.common.settings.ClusterSettings;
import org.opensearch.common.settings.IndexScopedSettings;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.settings.SettingsFilter;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.common.util.concurrent.OpenSearchExecutors;
import org.opensearch.core.action.ActionResponse;
import org.opensearch.plugins.ActionPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.rest.RestController;
import org.opensearch.rest.RestHandler;
import org.opensearch.threadpool.ExecutorBuilder;
import org.opensearch.threadpool.FixedExecutorBuilder;
import org.opensearch.threadpool.ScalingExecutorBuilder;

/** StreamBenchmarkPlugin adds the Benchmark API and its two thread pools. */
public final class StreamBenchmarkPlugin extends Plugin implements ActionPlugin {

    /** The pool in which data nodes make and send rows. */
    static final String SENDER_POOL = "benchmark";
    /** The pool in which the node that runs the benchmark receives rows. */
    static final String RECEIVER_POOL = "benchmark_response";

    static final ActionType<BenchmarkResponse> ACTION = new ActionType<>("cluster:admin/knee/benchmark/stream", BenchmarkResponse::new);

    private static final int MAX_IN_FLIGHT = 2 * Load.MAX_PARALLEL_REQUESTS;
    private static final int SENDERS_PER_PROCESSOR = 4; // a sender waits where the receiver is slower
    private static final int QUEUE = 10 * MAX_IN_FLIGHT; // ten nodes run a benchmark at the same time

    @Override
    public List<ActionHandler<? extends ActionRequest, ? extends ActionResponse>> getActions() {
        return List.of(new ActionHandler<>(ACTION, TransportBenchmarkAction.class));
    }

    @Override
    public List<RestHandler> getRestHandlers(
        Settings settings,
        RestController controller,
        ClusterSettings clusterSettings,
        IndexScopedSettings indexSettings,
        SettingsFilter filter,
        IndexNameExpressionResolver resolver,
        Supplier<DiscoveryNodes> nodes
    ) {
        return List.of(new RestBenchmarkAction());
    }

    /**
     * getExecutorBuilders returns the two pools. The receivers need a thread for each request in flight: a stream without a
     * reader would make its sender wait, and the stream that a reader waits for would stay in the sender's queue.
     */
    @Override
    public List<ExecutorBuilder<?>> getExecutorBuilders(Settings settings) {
        int senders = SENDERS_PER_PROCESSOR * OpenSearchExecutors.allocatedProcessors(settings);
        return List.of(
            new FixedExecutorBuilder(settings, SENDER_POOL, senders, QUEUE, "thread_pool." + SENDER_POOL),
            new ScalingExecutorBuilder(RECEIVER_POOL, 1, MAX_IN_FLIGHT, TimeValue.timeValueSeconds(30), "thread_pool." + RECEIVER_POOL)
        );
    }
}
