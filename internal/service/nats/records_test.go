package nats_test

import (
	"testing"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/testkit/recordstest"
)

func record(value int64, version uint64) lockbench.Record {
	return lockbench.Record{Value: value, Version: version}
}

func TestRecords(t *testing.T) {
	s := start(t)
	recordstest.Run(t, func() design.Records { return s.Records("test:") })
}
