package dev.knee.benchmark;

import java.lang.management.ManagementFactory;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import org.opensearch.OpenSearchStatusException;
import org.opensearch.action.support.ActionFilters;
import org.opensearch.action.support.HandledTransportAction;
import org.opensearch.cluster.node.DiscoveryNode;
import org.opensearch.cluster.node.DiscoveryNodes;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.Nullable;
import org.opensearch.common.inject.Inject;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.rest.RestStatus;
import org.opensearch.tasks.CancellableTask;
import org.opensearch.tasks.Task;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.StreamTransportService;
import org.opensearch.transport.TransportService;

import com.sun.management.HotSpotDiagnosticMXBean;

/** TransportBenchmarkAction runs benchmarks on the node that received the call, one at a time. */
public final class TransportBenchmarkAction extends HandledTransportAction<BenchmarkRequest, BenchmarkResponse> {

    private final ClusterService clusterService;
    private final TransportService regular;
    @Nullable
    private final StreamTransportService stream;
    private final ThreadPool threadPool;
    private final AtomicBoolean busy = new AtomicBoolean();

    /** OpenSearch calls this constructor; stream is null on a node without the stream transport. */
    @Inject
    public TransportBenchmarkAction(
        ClusterService clusterService,
        TransportService regular,
        @Nullable StreamTransportService stream,
        ThreadPool threadPool,
        ActionFilters filters
    ) {
        super(StreamBenchmarkPlugin.ACTION.name(), regular, filters, BenchmarkRequest::new);
        this.clusterService = clusterService;
        this.regular = regular;
        this.stream = stream;
        this.threadPool = threadPool;
        RowsSender.register(regular, stream);
    }

    @Override
    protected void doExecute(Task task, BenchmarkRequest request, ActionListener<BenchmarkResponse> listener) {
        Load load = request.load;
        load.checkMemory(Runtime.getRuntime().maxMemory(), maxDirectMemory());
        if (load.useStreamTransport() && stream == null) {
            throw new NoStreamTransportException();
        }
        List<DiscoveryNode> nodes = otherDataNodes(clusterService.state().nodes());
        if (busy.compareAndSet(false, true) == false) {
            throw new OpenSearchStatusException(
                "this node runs a benchmark already, and two would disturb each other: wait for its end",
                RestStatus.TOO_MANY_REQUESTS
            );
        }
        ActionListener<BenchmarkResponse> whenDone = ActionListener.runBefore(listener, () -> busy.set(false));
        TransportService transport = load.useStreamTransport() ? stream : regular;
        BenchmarkRun run = new BenchmarkRun(load, nodes, transport, (CancellableTask) task, whenDone);
        try {
            threadPool.executor(StreamBenchmarkPlugin.RECEIVER_POOL).execute(run::start);
        } catch (RuntimeException e) {
            whenDone.onFailure(e); // the node shuts down
        }
    }

    /** maxDirectMemory returns the limit of the JVM's direct memory, which is the heap's unless an option sets it. */
    private static long maxDirectMemory() {
        HotSpotDiagnosticMXBean jvm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        long option = Long.parseLong(jvm.getVMOption("MaxDirectMemorySize").getValue());
        return option > 0 ? option : Runtime.getRuntime().maxMemory();
    }

    /** otherDataNodes returns the data nodes that rows can come from: those to which a network leads. */
    static List<DiscoveryNode> otherDataNodes(DiscoveryNodes nodes) {
        List<DiscoveryNode> others = nodes.getDataNodes()
            .values()
            .stream()
            .filter(node -> node.getId().equals(nodes.getLocalNodeId()) == false)
            .sorted(Comparator.comparing(DiscoveryNode::getId))
            .toList();
        if (others.isEmpty()) {
            throw new IllegalArgumentException("the benchmark needs a data node other than the one that received the call: add a node");
        }
        return others;
    }
}
