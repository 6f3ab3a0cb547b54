package dev.knee.benchmark;

import java.util.List;

import org.opensearch.rest.BaseRestHandler;
import org.opensearch.rest.RestRequest;
import org.opensearch.rest.action.RestCancellableNodeClient;
import org.opensearch.rest.action.RestToXContentListener;
import org.opensearch.transport.client.node.NodeClient;

/** RestBenchmarkAction is <code>POST /_benchmark/stream</code>. */
final class RestBenchmarkAction extends BaseRestHandler {

    @Override
    public String getName() {
        return "knee_benchmark_stream";
    }

    @Override
    public List<Route> routes() {
        return List.of(new Route(RestRequest.Method.POST, "/_benchmark/stream"));
    }

    /** prepareRequest reads the parameters. OpenSearch refuses those that it does not read. */
    @Override
    protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
        BenchmarkRequest benchmark = new BenchmarkRequest(Load.parse(request::param));
        return channel -> {
            // cancels the benchmark when the client closes its connection
            RestCancellableNodeClient cancellable = new RestCancellableNodeClient(client, request.getHttpChannel());
            cancellable.execute(StreamBenchmarkPlugin.ACTION, benchmark, new RestToXContentListener<>(channel));
        };
    }
}
