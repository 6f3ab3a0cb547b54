package dev.knee.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;

class LatenciesTests {

    @Test
    void theFiguresAreTheDocumentedOnesInTheirOrder() {
        var names = List.of("min", "max", "avg", "p5", "p10", "p20", "p25", "p35", "p50", "p75", "p90", "p99");
        assertEquals(names, List.copyOf(Latencies.summary(new long[] { 1 }).keySet()));
    }

    @Test
    void aPercentileIsTheNearestRank() {
        long[] millis = LongStream.rangeClosed(1, 200).map(i -> (201 - i) * 1_000_000).toArray();
        var summary = Latencies.summary(millis);
        assertEquals(List.of(1L, 200L, 101L, 10L, 20L, 40L, 50L, 70L, 100L, 150L, 180L, 198L), List.copyOf(summary.values()));
    }

    @Test
    void oneLatencyIsEveryFigure() {
        Latencies.summary(new long[] { 7_499_999 }).values().forEach(value -> assertEquals(7, value));
    }

    @Test
    void millisecondsAreRounded() {
        assertEquals(0, Latencies.millis(499_999));
        assertEquals(1, Latencies.millis(500_000));
    }
}
