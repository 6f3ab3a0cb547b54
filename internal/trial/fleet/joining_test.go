package fleet

import (
	"bufio"
	"errors"
	"net"
	"testing"
)

// A member that is let in while the others get their last message gets it, too: else both sides would send signs of life to
// each other until the trial's deadline.
func TestAMemberThatComesAsTheOthersAreDismissed(t *testing.T) {
	c := newCrew(t, Options{Loaders: 2})
	who, m := joining{Trial: c.o.Trial, Loaders: 2, Index: 1, Host: "node-1"}, &member{host: "node-1", stage: joined}
	if status, why := c.admit(who, m); status != 0 {
		t.Fatal(why)
	}
	c.dismiss(abortion(errors.New("the cluster is not ready")))
	theirs, ours := net.Pipe()
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		defer c.handlers.Done()
		c.welcome(who, m, &link{conn: ours, in: bufio.NewReader(ours), beat: within, silence: within})
	}()
	l := &link{conn: theirs, in: bufio.NewReader(theirs), beat: within, silence: within}
	if said, err := l.receive(); err != nil || said.Kind != kindAbort || said.Message != "the cluster is not ready" {
		t.Errorf("it got %+v, %v", said, err)
	}
	_ = theirs.Close()
	<-listening
}
