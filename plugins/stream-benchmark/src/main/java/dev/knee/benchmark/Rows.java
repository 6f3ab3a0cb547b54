package dev.knee.benchmark;

import java.io.IOException;
import java.util.SplittableRandom;

import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.transport.TransportResponse;

/**
 * Rows are one message with rows: a batch of the stream transport, or the whole reply of the regular transport. Their bytes are
 * made while they are written and dropped while they are read, in chunks, so that they need no memory but the transport's own.
 */
final class Rows extends TransportResponse {

    private static final int CHUNK = 64 * 1024;

    final int count;
    final long bytes;

    Rows(int count, long bytes) {
        this.count = count;
        this.bytes = bytes;
    }

    /** Reads a message to its end. A message with fewer bytes than it announces is an error of the transport. */
    Rows(StreamInput in) throws IOException {
        super(in);
        count = in.readVInt();
        bytes = in.readVLong();
        byte[] chunk = new byte[(int) Math.min(CHUNK, bytes)];
        for (long left = bytes; left > 0;) {
            int length = (int) Math.min(chunk.length, left);
            in.readBytes(chunk, 0, length);
            left -= length;
        }
    }

    /** writeTo writes random bytes, which no compression makes smaller. */
    @Override
    public void writeTo(StreamOutput out) throws IOException {
        out.writeVInt(count);
        out.writeVLong(bytes);
        SplittableRandom random = new SplittableRandom();
        byte[] chunk = new byte[(int) Math.min(CHUNK, bytes)];
        for (long left = bytes; left > 0;) {
            random.nextBytes(chunk);
            int length = (int) Math.min(chunk.length, left);
            out.writeBytes(chunk, 0, length);
            left -= length;
        }
    }
}
