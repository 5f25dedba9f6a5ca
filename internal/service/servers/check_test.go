package servers_test

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/impls/design"
	"github.com/lockbench/lockbench/internal/service/servers"
)

func TestCheckNamesWhatTheServerLacks(t *testing.T) {
	eachServer(t, func(t *testing.T, s *servers.Server) {
		if err := s.Check(t.Context(), []string{"SET", "evalsha", "SCRIPT LOAD", "pexpire"}); err != nil {
			t.Errorf("refuses what every design needs: %v", err)
		}
		if s.Kind() == design.Embedded {
			return
		}
		err := s.Check(t.Context(), []string{"SET", "LOCKTAKE", "GET", "LOCK FREE"})
		if err == nil || !strings.Contains(err.Error(), "lacks LOCKTAKE, LOCK FREE,") || !strings.Contains(err.Error(), s.Version()) {
			t.Errorf("got %v, want both commands and the version", err)
		}
	})
}

func TestCheckRefusesAnOldRedis(t *testing.T) {
	var asked []string
	s, err := servers.Connect(t.Context(), "redis://"+fake(t, oldRedis(&asked)))
	if err != nil {
		t.Fatal(err)
	}
	err = s.Check(t.Context(), []string{"SET"})
	if err == nil || !strings.Contains(err.Error(), "too old") || !strings.Contains(err.Error(), "2.6.17") {
		t.Errorf("got %v, want that 2.6.17 is too old", err)
	}
}

func TestCheckPassesAServerThatCannotTell(t *testing.T) {
	s, err := servers.Connect(t.Context(), "redis://"+fake(t, dropWrites))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context(), []string{"SET"}); err != nil {
		t.Errorf("got %v, want it to pass", err)
	}
}

func TestChooseNeverReplacesAServerThatWasNamed(t *testing.T) {
	if s, err := servers.Choose(t.Context(), "redis://127.0.0.1:1"); err == nil {
		s.Close()
		t.Errorf("chose %s", s.Address())
	}
}

func TestChooseTakesTheEmbeddedServerWhenThereIsNoProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	s, err := servers.Choose(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Kind() != design.Embedded || !strings.HasPrefix(s.Version(), "miniredis ") {
		t.Errorf("chose %s, %s, want the embedded one", s.Kind(), s.Version())
	}
}
