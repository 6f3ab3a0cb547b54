package dev.knee.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opensearch.common.io.stream.BytesStreamOutput;
import org.opensearch.core.common.bytes.BytesReference;

import com.github.luben.zstd.Zstd;

class RowsTests {

    private static BytesReference written(long bytes) throws IOException {
        BytesStreamOutput out = new BytesStreamOutput();
        new Rows(3, bytes).writeTo(out);
        return out.bytes();
    }

    @ParameterizedTest
    @ValueSource(longs = { 1, 100, 64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 1_000_000 })
    void rowsAreReadToTheLastByte(long bytes) throws IOException {
        var in = written(bytes).streamInput();
        Rows rows = new Rows(in);
        assertEquals(3, rows.count);
        assertEquals(bytes, rows.bytes);
        assertEquals(0, in.available());
    }

    @Test
    void rowsThatLackBytesAreAnError() throws IOException {
        BytesReference whole = written(100_000);
        assertThrows(Exception.class, () -> new Rows(whole.slice(0, whole.length() - 1).streamInput()));
    }

    @Test
    void noCompressionMakesRowsSmaller() throws IOException {
        byte[] rows = BytesReference.toBytes(written(10_000_000));
        ByteArrayOutputStream deflated = new ByteArrayOutputStream();
        try (DeflaterOutputStream out = new DeflaterOutputStream(deflated, new Deflater(Deflater.BEST_COMPRESSION))) {
            out.write(rows);
        }
        assertTrue(deflated.size() >= rows.length, "deflate: " + deflated.size() + " of " + rows.length);
        int zstd = Zstd.compress(rows, 3).length; // its window spans megabytes
        assertTrue(zstd >= rows.length, "zstd: " + zstd + " of " + rows.length);
    }
}
