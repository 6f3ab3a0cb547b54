package loaders

import (
	"bufio"
	"net"
	"testing"
)

// TestDismiss_memberStillJoining_getsAbort checks a member that joins while the other members get their last
// message. It must get this message, too. Otherwise both sides would send signs of life to each other until the
// trial's deadline.
func TestDismiss_memberStillJoining_getsAbort(t *testing.T) {
	c := newCrew(t, Options{Loaders: 2})
	who, m := joining{Attempt: c.o.Attempt, Loaders: 2, Index: 1, Host: "node-1"}, &member{host: "node-1", stage: joined}
	if status, why := c.admit(who, m); status != 0 {
		t.Fatal(why)
	}
	c.dismiss(abort("", "the cluster is not ready"))
	theirs, ours := net.Pipe()
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		defer c.handlers.Done()
		c.serve(who, m, &link{conn: ours, in: bufio.NewReader(ours), beat: within, silence: within})
	}()
	l := &link{conn: theirs, in: bufio.NewReader(theirs), beat: within, silence: within}
	if said, err := l.receive(); err != nil || said.Kind != kindAbort || said.Message != "the cluster is not ready" {
		t.Errorf("it got %+v, %v", said, err)
	}
	_ = theirs.Close()
	<-listening
}
