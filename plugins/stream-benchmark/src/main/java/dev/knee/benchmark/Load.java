package dev.knee.benchmark;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.common.unit.ByteSizeValue;

/** A Load holds the seven parameters of one call of the Benchmark API. */
record Load(
    int rows,
    int columns,
    int avgColumnLength,
    int parallelRequests,
    int totalRequests,
    int batchSize,
    boolean useStreamTransport
) {

    /** MAX_PARALLEL_REQUESTS bounds the threads of the response pool: one for each request in flight, two for each parallel request. */
    static final int MAX_PARALLEL_REQUESTS = 500;
    /** MAX_TOTAL_REQUESTS bounds the memory for latencies: 8 bytes for each request, kept until the end. */
    static final int MAX_TOTAL_REQUESTS = 1_000_000;
    /** MAX_MESSAGE_BYTES is the size of the largest message. */
    static final long MAX_MESSAGE_BYTES = 1L << 30;
    /** STREAM_BUFFER_SETTING is the setting of arrow-flight-rpc for what one stream buffers. */
    static final String STREAM_BUFFER_SETTING = "arrow.flight.channel.outbound_buffer_threshold";

    /**
     * parse reads the parameters, with the documented defaults.
     *
     * @param param gives the text of a parameter, or null
     * @throws IllegalArgumentException that names each parameter with a wrong value
     */
    static Load parse(UnaryOperator<String> param) {
        List<String> errors = new ArrayList<>();
        Load load = new Load(
            number(param, "rows", 100, 1, Integer.MAX_VALUE, errors),
            number(param, "columns", 10, 1, Integer.MAX_VALUE, errors),
            number(param, "avg_column_length", 100, 1, Integer.MAX_VALUE, errors),
            number(param, "parallel_requests", 1, 1, MAX_PARALLEL_REQUESTS, errors),
            number(param, "total_requests", 0, 0, MAX_TOTAL_REQUESTS, errors),
            number(param, "batch_size", 100, 1, Integer.MAX_VALUE, errors),
            bool(param, "use_stream_transport", true, errors)
        );
        if (errors.isEmpty() && saturatedProduct(load.requests(), load.rows, load.rowBytes()) == Long.MAX_VALUE) {
            errors.add("[rows] x [columns] x [avg_column_length] x the number of requests must be less than 2^63 bytes");
        }
        if (errors.isEmpty() == false) {
            throw new IllegalArgumentException(String.join("; ", errors));
        }
        return load;
    }

    private static int number(UnaryOperator<String> param, String name, int defaultValue, int min, int max, List<String> errors) {
        String text = param.apply(name);
        if (text == null) {
            return defaultValue;
        }
        try {
            int value = Integer.parseInt(text);
            if (value >= min && value <= max) {
                return value;
            }
        } catch (NumberFormatException e) {
            // reported below
        }
        errors.add("[" + name + "] must be a whole number from " + min + " to " + max + ", not [" + text + "]");
        return defaultValue;
    }

    private static boolean bool(UnaryOperator<String> param, String name, boolean defaultValue, List<String> errors) {
        String text = param.apply(name);
        if (text == null) {
            return defaultValue;
        }
        if (text.equals("true") == false && text.equals("false") == false) {
            errors.add("[" + name + "] must be true or false, not [" + text + "]");
        }
        return text.equals("true");
    }

    Load(StreamInput in) throws IOException {
        this(in.readVInt(), in.readVInt(), in.readVInt(), in.readVInt(), in.readVInt(), in.readVInt(), in.readBoolean());
    }

    void writeTo(StreamOutput out) throws IOException {
        out.writeVInt(rows);
        out.writeVInt(columns);
        out.writeVInt(avgColumnLength);
        out.writeVInt(parallelRequests);
        out.writeVInt(totalRequests);
        out.writeVInt(batchSize);
        out.writeBoolean(useStreamTransport);
    }

    /** requests returns how many requests the benchmark sends. */
    int requests() {
        return totalRequests > 0 ? totalRequests : parallelRequests;
    }

    /** inFlight returns how many requests wait for their reply at the same time. */
    int inFlight() {
        return Math.min(2 * parallelRequests, requests());
    }

    /** rowBytes returns the size of a row, whose columns all have the average length. */
    long rowBytes() {
        return (long) columns * avgColumnLength;
    }

    /** Memory is what a node has for messages; the other data nodes are taken to have the same. */
    record Memory(long heapBytes, long directBytes, int senders, long streamBufferBytes) {}

    /**
     * checkMemory refuses a load whose messages in flight could exhaust a node.
     *
     * @throws IllegalArgumentException that names the parameters to lower
     */
    void checkMemory(Memory memory) {
        if (useStreamTransport) {
            checkBatches(memory);
        } else {
            checkReplies(memory);
        }
    }

    /** checkReplies lets whole replies, which the regular transport holds on the heap, take half of it. */
    private void checkReplies(Memory memory) {
        String what = "a reply of the regular transport ([rows] x [columns] x [avg_column_length])";
        String lower = "lower [rows] or [parallel_requests], or set [use_stream_transport] to true, which sends batches";
        checkMessages(what, rows, memory.heapBytes / 2, "half the heap", lower);
    }

    /**
     * checkBatches lets batches, which the stream transport holds in direct memory, take an eighth of it: a node holds about three
     * copies, in buffers of up to twice the size. What the senders buffer for slower receivers may take half.
     */
    private void checkBatches(Memory memory) {
        int batchRows = Math.min(batchSize, rows);
        String lower = "lower [batch_size] or [parallel_requests]";
        checkMessages("a batch ([batch_size] x [columns] x [avg_column_length])", batchRows, memory.directBytes / 8,
            "an eighth of the direct memory", lower);
        int sending = Math.min(memory.senders, inFlight());
        long buffered = Math.min(saturatedProduct(rows, rowBytes()), memory.streamBufferBytes + batchRows * rowBytes());
        if (saturatedProduct(buffered, sending) > memory.directBytes / 2) {
            throw new IllegalArgumentException("a node may send " + sending + " replies at the same time and buffer " + size(buffered)
                + " of each, more than " + size(memory.directBytes / 2) + ", half the direct memory; lower [rows] or [parallel_requests], "
                + "or the setting " + STREAM_BUFFER_SETTING + " of every node");
        }
    }

    private void checkMessages(String what, int messageRows, long limit, String memory, String lower) {
        long message = saturatedProduct(messageRows, rowBytes());
        if (message > MAX_MESSAGE_BYTES) {
            throw new IllegalArgumentException(what + " has " + size(message) + ", more than " + size(MAX_MESSAGE_BYTES) + "; " + lower);
        }
        if (saturatedProduct(message, inFlight()) > limit) {
            throw new IllegalArgumentException(what + " has " + size(message) + " and " + inFlight()
                + " are in flight (twice [parallel_requests], at most one for each request), more than " + size(limit) + ", " + memory + "; " + lower);
        }
    }

    private static ByteSizeValue size(long bytes) {
        return new ByteSizeValue(bytes);
    }

    private static long saturatedProduct(long... factors) {
        long product = 1;
        for (long factor : factors) {
            try {
                product = Math.multiplyExact(product, factor);
            } catch (ArithmeticException e) {
                return Long.MAX_VALUE;
            }
        }
        return product;
    }
}
