package dev.knee.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;

import org.junit.jupiter.api.Test;
import org.opensearch.common.io.stream.BytesStreamOutput;
import org.opensearch.common.xcontent.XContentFactory;
import org.opensearch.core.xcontent.ToXContent;
import org.opensearch.core.xcontent.XContentBuilder;

class BenchmarkResponseTests {

    // The counts, the duration and so the rates are those of the document's first example.
    private final BenchmarkResponse response = new BenchmarkResponse(
        60_000_000L,
        57_970_000_000L,
        47_730L,
        Latencies.summary(new long[] { 179_000_000L, 1_862_000_000L }),
        10,
        true
    );

    private static String json(BenchmarkResponse response, boolean human) throws IOException {
        XContentBuilder builder = XContentFactory.jsonBuilder().humanReadable(human);
        response.toXContent(builder, ToXContent.EMPTY_PARAMS);
        return builder.toString();
    }

    @Test
    void theReplyHasTheDocumentedFieldsInTheirOrder() throws IOException {
        String expected = "{\"total_rows\":60000000,\"total_bytes\":57970000000,\"total_size\":\"53.9gb\",\"total_size_bytes\":57970000000,"
            + "\"duration_ms\":47730,\"throughput_rows_per_sec\":\"1257071.02\",\"throughput_mb_per_sec\":\"1158.28\","
            + "\"latency_ms\":{\"min\":179,\"max\":1862,\"avg\":1021,\"p5\":179,\"p10\":179,\"p20\":179,\"p25\":179,\"p35\":179,\"p50\":179,"
            + "\"p75\":1862,\"p90\":1862,\"p99\":1862},\"parallel_requests\":10,\"used_stream_transport\":true}";
        assertEquals(expected, json(response, true));
        assertEquals(expected.replace("\"total_size\":\"53.9gb\",", ""), json(response, false));
    }

    @Test
    void aReplyIsTheSameAfterItsWayToAnotherNode() throws IOException {
        BytesStreamOutput out = new BytesStreamOutput();
        response.writeTo(out);
        assertEquals(json(response, true), json(new BenchmarkResponse(out.bytes().streamInput()), true));
    }
}
