package dev.knee.benchmark;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.opensearch.common.io.stream.BytesStreamOutput;

class LoadTests {

    private static final long MIB = 1 << 20;

    private static Load load(String... pairs) {
        Map<String, String> params = new java.util.HashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            params.put(pairs[i], pairs[i + 1]);
        }
        return Load.parse(params::get);
    }

    private static String refused(org.junit.jupiter.api.function.Executable call) {
        return assertThrows(IllegalArgumentException.class, call).getMessage();
    }

    @Test
    void theDefaultsAreTheDocumentedOnes() {
        assertEquals(new Load(100, 10, 100, 1, 0, 100, true), load());
    }

    @Test
    void everyParameterIsRead() {
        Load read = load("rows", "1", "columns", "2", "avg_column_length", "3", "parallel_requests", "4", "total_requests", "5",
            "batch_size", "6", "use_stream_transport", "false");
        assertEquals(new Load(1, 2, 3, 4, 5, 6, false), read);
    }

    @ParameterizedTest
    @CsvSource({
        "rows,0", "rows,-1", "rows,1e5", "rows,''", "rows,2147483648", "columns,0", "avg_column_length,0", "parallel_requests,0",
        "parallel_requests,501", "total_requests,-1", "total_requests,1000001", "batch_size,0", "use_stream_transport,yes",
        "use_stream_transport,''" })
    void aWrongValueIsRefusedWithTheNameOfItsParameter(String name, String value) {
        String message = refused(() -> load(name, value));
        assertTrue(message.startsWith("[" + name + "] must be ") && message.endsWith("not [" + value + "]"), message);
    }

    @Test
    void allWrongParametersAreNamedAtOnce() {
        String message = refused(() -> load("rows", "x", "batch_size", "0", "use_stream_transport", "1"));
        for (String name : new String[] { "[rows]", "[batch_size]", "[use_stream_transport]" }) {
            assertTrue(message.contains(name), message);
        }
    }

    @Test
    void aLoadWhoseBytesCannotBeCountedIsRefused() {
        String max = "2147483647";
        assertTrue(refused(() -> load("rows", max, "columns", max, "avg_column_length", max)).contains("less than 2^63"));
    }

    @ParameterizedTest
    @CsvSource({ "1,0,1,1", "5,0,5,5", "5,600,600,10", "5,7,7,7", "10,600,600,20" })
    void twiceTheParallelRequestsAreInFlight(String parallel, String total, int requests, int inFlight) {
        Load read = load("parallel_requests", parallel, "total_requests", total);
        assertEquals(requests, read.requests());
        assertEquals(inFlight, read.inFlight());
    }

    @Test
    void theRegularTransportMayHoldHalfTheHeap() {
        Load atLimit = load("use_stream_transport", "false", "rows", "1024", "columns", "1", "avg_column_length", "1024",
            "parallel_requests", "4", "total_requests", "8");
        assertDoesNotThrow(() -> atLimit.checkMemory(16 * MIB, 1));
        String message = refused(() -> atLimit.checkMemory(16 * MIB - 2, 1));
        assertTrue(message.contains("has 1mb and 8 are in flight") && message.contains("lower [rows] or [parallel_requests]"), message);
    }

    @Test
    void theStreamTransportMayHoldAnEighthOfTheDirectMemory() {
        Load atLimit = load("rows", "1000000", "batch_size", "1024", "columns", "1", "avg_column_length", "1024", "parallel_requests", "2",
            "total_requests", "100");
        assertDoesNotThrow(() -> atLimit.checkMemory(1, 32 * MIB));
        String message = refused(() -> atLimit.checkMemory(1, 32 * MIB - 8));
        assertTrue(message.contains("has 1mb and 4 are in flight") && message.contains("lower [batch_size]"), message);
    }

    @Test
    void oneMessageHasAtMostAGibibyte() {
        Load large = load("use_stream_transport", "false", "rows", "50000", "columns", "50", "avg_column_length", "1000");
        String message = refused(() -> large.checkMemory(Long.MAX_VALUE, Long.MAX_VALUE));
        assertTrue(message.contains("more than 1gb") && message.contains("[use_stream_transport] to true"), message);
    }

    @Test
    void aLoadIsTheSameAfterItsWayToAnotherNode() throws IOException {
        Load load = new Load(1, 2, 3, 4, 5, 6, true);
        BytesStreamOutput out = new BytesStreamOutput();
        new RowsRequest(load).writeTo(out);
        assertEquals(load, new RowsRequest(out.bytes().streamInput()).load);
        out = new BytesStreamOutput();
        new BenchmarkRequest(load).writeTo(out);
        assertEquals(load, new BenchmarkRequest(out.bytes().streamInput()).load);
    }
}
