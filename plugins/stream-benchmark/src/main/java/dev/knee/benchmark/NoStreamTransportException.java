package dev.knee.benchmark;

import org.opensearch.OpenSearchException;
import org.opensearch.core.rest.RestStatus;

/** NoStreamTransportException is the reply of a node without the stream transport. Clients recognise it by its type in the reply. */
final class NoStreamTransportException extends OpenSearchException {

    NoStreamTransportException() {
        super(
            "[use_stream_transport] is true and this node has no stream transport: install the plugins arrow-base and arrow-flight-rpc and set "
                + "opensearch.experimental.feature.transport.stream.enabled to true on every node, or set [use_stream_transport] to false"
        );
    }

    @Override
    public RestStatus status() {
        return RestStatus.BAD_REQUEST;
    }
}
