package trial

import (
	"context"
	"errors"
	"time"

	"github.com/knee-bench/knee/internal/access"
	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/record"
)

// readSecrets reads the Secrets of an endpoint. From then on, their values are masked in all texts.
func (a *attempt) readSecrets() (err error) {
	e := a.Config.External
	if e == nil {
		return nil
	}
	if a.session.Access, err = access.Read(*e); err != nil {
		return record.Errorf(record.ReasonClusterNotReady, "cannot use the Secrets of %s: %v", accessField(*e), err)
	}
	a.secrets = a.session.Access.Secret()
	return nil
}

// connect creates the client for the cluster.
func (a *attempt) connect() (err error) {
	a.session.Cluster, err = opensearch.Connect(a.Network, a.Config.Endpoint, a.session.Access)
	return err
}

// refused returns an error if a call failed for a reason that waiting cannot remove, such as wrong credentials. Otherwise it
// returns nil. It always returns nil for an unsecured cluster that Knee created.
func (a *attempt) refused(err error) error {
	if a.Config.External == nil {
		return nil
	}
	text := refusalText(opensearch.RefusalOf(err), *a.Config.External)
	if text == "" {
		return nil
	}
	return record.Errorf(record.ReasonClusterNotReady, "%s %s: %v", a.Config.Endpoint, text, err)
}

// mayDeleteIndex reports whether the trial may delete an index that it did not create.
func (a *attempt) mayDeleteIndex() bool {
	return a.Config.External == nil || a.Config.External.AllowIndexDeletion
}

// clearIndex deletes the index or data stream of the earlier trial. If the campaign does not allow this deletion, clearIndex
// returns an error if the index exists.
func (a *attempt) clearIndex(ctx context.Context) error {
	index := a.Config.Index.Name
	if a.mayDeleteIndex() {
		if err := a.deleteIndex(ctx); err != nil {
			return record.Errorf(record.ReasonIndexNotMade, "cannot delete the old index or data stream: %v", err)
		}
		return nil
	}
	there, err := a.session.Cluster.IndexExists(ctx, index)
	switch {
	case err != nil:
		return record.Errorf(record.ReasonIndexNotMade, "cannot check whether index %s exists: %v", index, err)
	case there:
		return record.Errorf(record.ReasonIndexNotMade, "index %s already exists at %s. To let Knee delete this index, set spec.variants[].endpoint.allowIndexDeletion to true; to keep this index, set another spec.workload.index.name", index, a.Config.Endpoint)
	}
	return nil
}

// deleteIndex deletes the index or the data stream that has the index's name, even if it is not of the kind that the trial
// creates. deleteIndex must check the kind: OpenSearch acknowledges the deletion of an index as a data stream, and of a data
// stream as an index, but deletes nothing.
func (a *attempt) deleteIndex(ctx context.Context) error {
	name, remove := a.Config.Index.Name, a.session.Cluster.DeleteIndex
	if a.Config.Index.DataStream {
		remove = a.session.Cluster.DeleteDataStream
	}
	if err := remove(ctx, name); err != nil {
		return err
	}
	there, err := a.session.Cluster.IndexExists(ctx, name)
	if err != nil || !there {
		return err
	}
	stream, err := a.session.Cluster.IsDataStream(ctx, name)
	switch {
	case err != nil || stream == a.Config.Index.DataStream: // in the second case, the deletion is not complete yet
		return err
	case stream:
		a.say("deleting data stream %s, because spec.workload.index requires an index with this name", name)
		if err := a.session.Cluster.DeleteDataStream(ctx, name); err != nil {
			return err
		}
		return a.session.Cluster.DeleteStreamTemplate(ctx, name) // OpenSearch refuses to create an index with this name while the template exists
	}
	a.say("deleting index %s, because spec.workload.index requires a data stream with this name", name)
	return a.session.Cluster.DeleteIndex(ctx, name)
}

// cleanUpTimeout limits the time of cleanUp.
const cleanUpTimeout = 10 * time.Second

// cleanUp deletes the objects that the trial created in a cluster that Knee did not create. These are the index (if the
// campaign allows this), its template and its policy. A data stream must be deleted before its template. An error is only
// printed, because the next trial deletes the same objects at its start.
func (a *attempt) cleanUp(ctx context.Context) {
	if e := a.Config.External; e == nil || e.Own || !a.ownIndex {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	defer cancel()
	index := a.Config.Index
	var errs []error
	if a.mayDeleteIndex() {
		errs = append(errs, a.deleteIndex(ctx))
	}
	if index.DataStream {
		errs = append(errs, a.session.Cluster.DeleteStreamTemplate(ctx, index.Name))
	} else {
		errs = append(errs, a.session.Cluster.DeleteTemplate(ctx, index.Name))
	}
	if index.ISMPolicyFile != "" {
		errs = append(errs, a.session.Cluster.DeletePolicy(ctx, index.Name))
	}
	if err := errors.Join(errs...); err != nil {
		a.say("cannot delete all objects of the trial at %s: %v", a.Config.Endpoint, err)
	}
}

// hideSecrets masks secrets in those texts of the record that may quote output of other programs.
func (a *attempt) hideSecrets() {
	if e := a.record.Error; e != nil {
		e.Message = a.secrets.Hide(e.Message)
	}
	a.record.Settle.Note = a.secrets.Hide(a.record.Settle.Note)
}
