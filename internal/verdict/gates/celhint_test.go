package gates

import "testing"

// mutation: the distance of names forgets the diagonal of its table.
func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"Saturday", "Sunday", 3}, {"ab", "ba", 2},
	} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q and %q: distance %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
