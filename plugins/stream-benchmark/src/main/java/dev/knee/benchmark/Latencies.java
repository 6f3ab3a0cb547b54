package dev.knee.benchmark;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** Latencies computes the documented figures from the latency of each request. */
final class Latencies {

    private static final int[] PERCENTILES = { 5, 10, 20, 25, 35, 50, 75, 90, 99 };
    private static final double NANOS_PER_MILLI = 1_000_000;

    private Latencies() {}

    /**
     * summary returns min, max, avg and the percentiles in the documented order, in whole milliseconds, rounded.
     *
     * @param nanos the latencies in nanoseconds, at least one; they are sorted in place
     */
    static Map<String, Long> summary(long[] nanos) {
        Arrays.sort(nanos);
        Map<String, Long> summary = new LinkedHashMap<>();
        summary.put("min", millis(nanos[0]));
        summary.put("max", millis(nanos[nanos.length - 1]));
        summary.put("avg", millis(Arrays.stream(nanos).average().getAsDouble()));
        for (int p : PERCENTILES) {
            summary.put("p" + p, millis(percentile(nanos, p)));
        }
        return summary;
    }

    /** percentile returns the nearest rank: the smallest value that at least p percent of the values do not exceed. */
    static long percentile(long[] sorted, int p) {
        int rank = (int) (((long) sorted.length * p + 99) / 100);
        return sorted[rank - 1];
    }

    static long millis(double nanos) {
        return Math.round(nanos / NANOS_PER_MILLI);
    }
}
