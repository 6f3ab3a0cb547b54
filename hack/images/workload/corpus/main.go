// Command corpus writes the documents of the demo, with the fields and value ranges of the workload nyc_taxis. It uses
// a fixed seed and integer arithmetic, so every machine writes the same bytes.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"
)

// offsetEvery is the number of lines between two entries of the offset table
// (osbenchmark/utils/io.py, prepare_file_offset_table).
const offsetEvery = 50_000

func main() {
	documents := flag.Int("documents", 100_000, "how many")
	seed := flag.Uint64("seed", 7, "of the random numbers")
	out := flag.String("out", "documents.json", "the file to write; its offset table is written beside it")
	flag.Parse()
	if err := run(*out, *documents, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

func run(out string, documents int, seed uint64) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	offsets, err := os.Create(out + ".offset")
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return errors.Join(write(f, offsets, documents, seed), f.Close(), offsets.Close())
}

// write writes one document per line to out. It also writes a table to offsets. The clients of opensearch-benchmark use
// the table to find their part of the file. Without this table, each trial would have to write it next to the corpus.
func write(out, offsets io.Writer, documents int, seed uint64) error {
	w := bufio.NewWriterSize(out, 1<<20)
	random := rand.New(rand.NewPCG(seed, seed))
	var position int64
	for i := 1; i <= documents; i++ {
		n, err := w.WriteString(newRide(random).json())
		if err != nil {
			return err
		}
		position += int64(n)
		if i%offsetEvery == 0 {
			if _, err := fmt.Fprintf(offsets, "%d;%d\n", i, position); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

// ride is one document. Amounts are in cents, and distances in hundredths of a mile.
type ride struct {
	pickup, dropoff             time.Time
	from, to                    place
	passengers                  int
	distance, fare, tip         int
	extra, tolls                int
	rateCode, flag, pay, vendor byte
}

// place is a point in New York. Its coordinates are in 1e-14 degrees.
type place struct{ west, north int64 }

func newRide(r *rand.Rand) ride {
	u := r.IntN(1000)
	x := ride{distance: 40 + u*u/1000 + r.IntN(100)} // 0.4 to 11 miles, most of them short
	x.fare = 250 + 24*x.distance/10
	x.tip = max(0, bell(r, 120, 200))
	x.extra = pick(r, 0, 50, 100)
	x.tolls = pick(r, 0, 0, 0, 533)
	x.pickup = time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.IntN(365*86400)) * time.Second)
	x.dropoff = x.pickup.Add(time.Duration(240*x.distance/100) * time.Second)
	x.from, x.to = newPlace(r), newPlace(r)
	x.passengers = 1 + r.IntN(6)
	x.rateCode, x.flag, x.pay, x.vendor = "1111125"[r.IntN(7)], "NNNNY"[r.IntN(5)], "12"[r.IntN(2)], "12"[r.IntN(2)]
	return x
}

func newPlace(r *rand.Rand) place {
	const degree = 100_000_000_000_000
	return place{
		west:  73*degree + int64(bell(r, 970_000, 80_000))*(degree/1_000_000) + r.Int64N(degree/1_000_000),
		north: 40*degree + int64(bell(r, 750_000, 60_000))*(degree/1_000_000) + r.Int64N(degree/1_000_000),
	}
}

// bell returns a random number that differs from middle by at most spread. The difference is the mean of four uniform
// numbers (Irwin-Hall distribution).
func bell(r *rand.Rand, middle, spread int) int {
	sum := 0
	for range 4 {
		sum += r.IntN(2*spread+1) - spread
	}
	return middle + sum/4
}

func pick(r *rand.Rand, values ...int) int { return values[r.IntN(len(values))] }

func (x ride) json() string {
	const layout = "2006-01-02 15:04:05"
	return fmt.Sprintf(`{"total_amount": %s, "improvement_surcharge": 0.3, "pickup_location": %s, "pickup_datetime": %q, `+
		`"trip_type": "1", "dropoff_datetime": %q, "rate_code_id": "%c", "tolls_amount": %s, "dropoff_location": %s, `+
		`"passenger_count": %d, "fare_amount": %s, "extra": %s, "trip_distance": %s, "tip_amount": %s, `+
		`"store_and_fwd_flag": "%c", "payment_type": "%c", "mta_tax": 0.5, "vendor_id": "%c"}`+"\n",
		hundredths(x.fare+x.tip+x.extra+x.tolls+80), x.from, x.pickup.Format(layout),
		x.dropoff.Format(layout), x.rateCode, hundredths(x.tolls), x.to,
		x.passengers, hundredths(x.fare), hundredths(x.extra), hundredths(x.distance), hundredths(x.tip),
		x.flag, x.pay, x.vendor)
}

func (p place) String() string {
	const degree = 100_000_000_000_000
	return fmt.Sprintf("[-%d.%014d, %d.%014d]", p.west/degree, p.west%degree, p.north/degree, p.north%degree)
}

func hundredths(n int) string { return fmt.Sprintf("%d.%02d", n/100, n%100) }
