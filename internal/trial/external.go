package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/knee-bench/knee/internal/access"
	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/cluster"
)

// readSecrets reads what the Secrets of an endpoint hold, and has it masked from then on.
func (a *attempt) readSecrets() (err error) {
	e := a.Config.External
	if e == nil {
		return nil
	}
	if a.access, err = access.Read(*e); err != nil {
		return fail(record.ReasonClusterNotReady, "the Secrets of %s cannot be used: %v", accessField(*e), err)
	}
	a.secrets = a.access.Secret()
	return nil
}

// connect makes the client of the cluster, with what the Secrets of an endpoint hold.
func (a *attempt) connect() (err error) {
	if err := a.readSecrets(); err != nil {
		return err
	}
	a.cluster, err = cluster.Connect(a.Network, a.Config.Endpoint, a.access)
	return err
}

// refused returns the failure of a call that will fail again however long the trial waits; nil if waiting may help. A trial
// on an open cluster of Knee's own waits for anything.
func (a *attempt) refused(err error) error {
	if a.Config.External == nil {
		return nil
	}
	what := refusalText(cluster.RefusalOf(err), *a.Config.External)
	if what == "" {
		return nil
	}
	return fail(record.ReasonClusterNotReady, "%s %s: %v", a.Config.Endpoint, what, err)
}

// mayDelete says whether the index may be deleted, whoever made it.
func (a *attempt) mayDelete() bool {
	return a.Config.External == nil || a.Config.External.AllowIndexDeletion
}

// clearIndex deletes the index or data stream of the trial before. Where nobody said that it may go, one that is there is
// refused.
func (a *attempt) clearIndex(ctx context.Context) error {
	index := a.Config.Index.Name
	if a.mayDelete() {
		if err := a.deleteIndex(ctx); err != nil {
			return fail(record.ReasonIndexNotMade, "the old index could not be deleted: %v", err)
		}
		return nil
	}
	there, err := a.cluster.IndexExists(ctx, index)
	switch {
	case err != nil:
		return fail(record.ReasonIndexNotMade, "whether there is an index %s cannot be known: %v", index, err)
	case there:
		return fail(record.ReasonIndexNotMade, "there is an index %s at %s, and spec.variants[].endpoint.allowIndexDeletion is not true: set it if nobody needs that index, or name another one", index, a.Config.Endpoint)
	}
	return nil
}

// deleteIndex deletes what has the index's name. What is not of the kind that the trial makes, an index or a data stream, is
// in its way all the same: it goes too, and that is said. OpenSearch answers true when it is told to delete one as the
// other, and deletes nothing.
func (a *attempt) deleteIndex(ctx context.Context) error {
	name, remove := a.Config.Index.Name, a.cluster.DeleteIndex
	if a.Config.Index.DataStream {
		remove = a.cluster.DeleteDataStream
	}
	if err := remove(ctx, name); err != nil {
		return err
	}
	there, err := a.cluster.IndexExists(ctx, name)
	if err != nil || !there {
		return err
	}
	stream, err := a.cluster.IsDataStream(ctx, name)
	switch {
	case err != nil || stream == a.Config.Index.DataStream: // it takes its time
		return err
	case stream:
		a.say("%s was a data stream, and is to be an index (spec.workload.index): it is deleted", name)
		if err := a.cluster.DeleteDataStream(ctx, name); err != nil {
			return err
		}
		return a.cluster.DeleteStreamTemplate(ctx, name) // else it refuses an index of the name
	}
	a.say("%s was an index, and is to be a data stream (spec.workload.index): it is deleted", name)
	return a.cluster.DeleteIndex(ctx, name)
}

// leaveTimeout bounds cleaning up after a trial.
const leaveTimeout = 10 * time.Second

// leave removes from a cluster that is not Knee's what the trial made there: the index where it may be deleted, its
// template, which a data stream holds fast until it is gone, and its policy. What cannot be removed is said and no more: the
// next trial begins with the same.
func (a *attempt) leave(ctx context.Context) {
	if e := a.Config.External; e == nil || e.Own || !a.ownIndex {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	index := a.Config.Index
	var errs []error
	if a.mayDelete() {
		errs = append(errs, a.deleteIndex(ctx))
	}
	if index.DataStream {
		errs = append(errs, a.cluster.DeleteStreamTemplate(ctx, index.Name))
	} else {
		errs = append(errs, a.cluster.DeleteTemplate(ctx, index.Name))
	}
	if index.ISMPolicyFile != "" {
		errs = append(errs, a.cluster.DeletePolicy(ctx, index.Name))
	}
	if err := errors.Join(errs...); err != nil {
		a.say("left behind at %s: %v", a.Config.Endpoint, err)
	}
}

// clientOptions writes the file from which the driver takes how to reach the cluster, when that is more than a command
// line may hold. A password may be in it: forget takes it away when the driver has ended.
func (a *attempt) clientOptions(run *driver.OSBRun) error {
	e := a.Config.External
	if e == nil || *e == (record.External{AllowIndexDeletion: e.AllowIndexDeletion}) {
		return nil
	}
	options := driver.OSBAccess{User: a.access.User, Password: a.access.Password, CAFile: e.CAFile, Signed: e.SigV4 != nil}
	if options.Signed {
		run.Access = a.access.SigV4.OSBEnv()
		if e.CAFile != "" { // its client that signs looks for authorities here alone
			run.Access = append(run.Access, "SSL_CERT_FILE="+e.CAFile)
		}
	}
	if dir := e.ClientCertificateDir; dir != "" {
		options.CertFile, options.KeyFile = filepath.Join(dir, record.CertificateKey), filepath.Join(dir, record.PrivateKeyKey)
	}
	data, err := driver.OSBClientOptions(a.Config.Endpoint, options)
	if err != nil {
		return err
	}
	path := filepath.Join(a.Work, "client-options.json")
	a.forget(path) // else it would keep its permissions
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("the driver's client options: %w", err)
	}
	run.ClientOptionsFile = path
	return nil
}

// forget removes a file of client options, if there is one.
func (a *attempt) forget(path string) {
	if path == "" {
		return
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		a.say("%v", err)
	}
}

// hideSecrets masks the record's texts that quote others.
func (a *attempt) hideSecrets() {
	if e := a.record.Error; e != nil {
		e.Message = a.secrets.hide(e.Message)
	}
	a.record.Settle.Note = a.secrets.hide(a.record.Settle.Note)
}
