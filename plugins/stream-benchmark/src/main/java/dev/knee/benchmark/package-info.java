/**
 * The Benchmark API, <code>POST /_benchmark/stream</code>: the node that receives the call requests synthetic rows from the other
 * data nodes, over the stream transport (Arrow Flight) or the regular transport (Netty), and reports rows/s and latencies.
 *
 * <p>{@link dev.knee.benchmark.Load}, {@link dev.knee.benchmark.RequestWindow} and {@link dev.knee.benchmark.Latencies} are pure
 * logic. The other classes connect them with OpenSearch.
 */
package dev.knee.benchmark;
