package dev.knee.benchmark;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import org.opensearch.core.action.ActionResponse;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.common.unit.ByteSizeValue;
import org.opensearch.core.xcontent.ToXContentObject;
import org.opensearch.core.xcontent.XContentBuilder;

/** A BenchmarkResponse is the documented reply. */
final class BenchmarkResponse extends ActionResponse implements ToXContentObject {

    private static final double BYTES_PER_MB = 1024 * 1024; // the document's MB are MiB: its 57,970,000,000 bytes in 47.73 s are 1158.28

    private final long totalRows;
    private final long totalBytes;
    private final long durationMs;
    private final Map<String, Long> latencyMs;
    private final int parallelRequests;
    private final boolean usedStreamTransport;

    /** @param durationMs at least 1: the rates are made of it, so that they agree with the counts of the reply */
    BenchmarkResponse(
        long totalRows,
        long totalBytes,
        long durationMs,
        Map<String, Long> latencyMs,
        int parallelRequests,
        boolean usedStreamTransport
    ) {
        this.totalRows = totalRows;
        this.totalBytes = totalBytes;
        this.durationMs = durationMs;
        this.latencyMs = latencyMs;
        this.parallelRequests = parallelRequests;
        this.usedStreamTransport = usedStreamTransport;
    }

    BenchmarkResponse(StreamInput in) throws IOException {
        super(in);
        totalRows = in.readVLong();
        totalBytes = in.readVLong();
        durationMs = in.readVLong();
        latencyMs = new LinkedHashMap<>();
        for (int left = in.readVInt(); left > 0; left--) {
            latencyMs.put(in.readString(), in.readVLong());
        }
        parallelRequests = in.readVInt();
        usedStreamTransport = in.readBoolean();
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
        out.writeVLong(totalRows);
        out.writeVLong(totalBytes);
        out.writeVLong(durationMs);
        out.writeVInt(latencyMs.size()); // writeMap would sort the names
        for (Map.Entry<String, Long> figure : latencyMs.entrySet()) {
            out.writeString(figure.getKey());
            out.writeVLong(figure.getValue());
        }
        out.writeVInt(parallelRequests);
        out.writeBoolean(usedStreamTransport);
    }

    @Override
    public XContentBuilder toXContent(XContentBuilder builder, Params params) throws IOException {
        double seconds = durationMs / 1000.0;
        builder.startObject();
        builder.field("total_rows", totalRows);
        builder.field("total_bytes", totalBytes);
        builder.humanReadableField("total_size_bytes", "total_size", new ByteSizeValue(totalBytes));
        builder.field("duration_ms", durationMs);
        builder.field("throughput_rows_per_sec", twoDecimals(totalRows / seconds));
        builder.field("throughput_mb_per_sec", twoDecimals(totalBytes / BYTES_PER_MB / seconds));
        builder.field("latency_ms", latencyMs);
        builder.field("parallel_requests", parallelRequests);
        builder.field("used_stream_transport", usedStreamTransport);
        return builder.endObject();
    }

    private static String twoDecimals(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }
}
