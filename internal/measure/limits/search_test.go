package limits

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// find makes a search in which a function of the value gives the outcomes.
func find(t *testing.T, c Config, outcome func(float64) Outcome) Result {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		v, ok := s.Next()
		if !ok {
			return s.Result()
		}
		if v < c.Least || v > c.Most {
			t.Fatalf("tried %v, outside %v to %v", v, c.Least, c.Most)
		}
		s.Report(outcome(v))
	}
	t.Fatalf("the search does not end: %+v", s.Result())
	return Result{}
}

func TestSearch(t *testing.T) {
	rate := Config{Rising: true, Start: 100, Least: 1, Most: 1e6}
	lease := Config{Start: 1000, Least: 1, Most: 60_000, Unit: 1}
	upTo := func(limit float64, beyond Outcome) func(float64) Outcome {
		return func(v float64) Outcome {
			if v <= limit {
				return Holds
			}
			return beyond
		}
	}
	from := func(limit float64) func(float64) Outcome {
		return func(v float64) Outcome {
			if v >= limit {
				return Holds
			}
			return Fails
		}
	}
	for _, c := range []struct {
		name    string
		cfg     Config
		outcome func(float64) Outcome
		// limit and beyond are bounds for the result.
		limit, beyond [2]float64
		why           Outcome
	}{
		{"a rate far above the start", rate, upTo(7777, Fails), [2]float64{7400, 7777}, [2]float64{7777, 8200}, Fails},
		{"a rate below the start", rate, upTo(33, Fails), [2]float64{31, 33}, [2]float64{33, 35}, Fails},
		{"the machine is the limit", rate, upTo(5000, Unable), [2]float64{4700, 5000}, [2]float64{5000, 5300}, Unable},
		{"everything holds", rate, upTo(1e9, Fails), [2]float64{1e6, 1e6}, [2]float64{0, 0}, Unable},
		{"nothing holds", rate, upTo(0, Fails), [2]float64{0, 0}, [2]float64{1, 1}, Fails},
		{"a short lease", lease, from(42), [2]float64{42, 44}, [2]float64{40, 42}, Fails},
		{"a long lease", lease, from(21_000), [2]float64{21_000, 22_100}, [2]float64{20_000, 21_000}, Fails},
		{"whole seconds", Config{Start: 5000, Least: 1000, Most: 60_000, Unit: 1000}, from(1700), [2]float64{2000, 2000}, [2]float64{1000, 1000}, Fails},
		{"the shortest there is", Config{Start: 5000, Least: 1000, Most: 60_000, Unit: 1000}, from(1), [2]float64{1000, 1000}, [2]float64{0, 0}, Unable},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cfg.Confirmations = 2
			got := find(t, c.cfg, c.outcome)
			if got.Limit < c.limit[0] || got.Limit > c.limit[1] || got.Beyond < c.beyond[0] || got.Beyond > c.beyond[1] || got.Why != c.why {
				t.Errorf("limit %v, beyond %v (%v); want them in %v and %v (%v)", got.Limit, got.Beyond, got.Why, c.limit, c.beyond, c.why)
			}
			if got.Limit > 0 && (got.Confirmed != 3 || got.Against != 0) {
				t.Errorf("the limit held %d times and failed %d, want 3 and 0", got.Confirmed, got.Against)
			}
		})
	}
}

// TestSearchInNoise checks that votes find the limit although one trial in thirty fails by chance,
// at any value.
func TestSearchInNoise(t *testing.T) {
	misled := func(votes int) (n int) {
		random := rand.New(rand.NewPCG(1, 1))
		for range 200 {
			r := find(t, Config{Rising: true, Start: 100, Least: 1, Most: 1e6, Votes: votes}, func(v float64) Outcome {
				if v > 8000 || random.IntN(30) == 0 {
					return Fails
				}
				return Holds
			})
			if r.Limit < 7000 {
				n++
			}
		}
		return n
	}
	if without, with := misled(1), misled(3); without < 40 || with > without/5 {
		t.Errorf("%d of 200 searches were misled by chance with one vote, and %d with three; want many and few", without, with)
	}
}

// TestConfirmation checks that a value that held once by luck is not taken for the limit.
func TestConfirmation(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	// Below 10 no trial holds, from 100 on every trial does; in between, the share of trials that
	// hold grows with the lease.
	lucky := func(v float64) Outcome {
		if v >= 100 || v >= 10 && random.Float64() < 0.3 {
			return Holds
		}
		return Fails
	}
	low := func(confirmations int) (n int) {
		for range 200 {
			r := find(t, Config{Start: 1000, Least: 1, Most: 1e5, Unit: 1, Confirmations: confirmations}, lucky)
			if r.Limit < 95 {
				n++
			}
		}
		return n
	}
	if without, with := low(0), low(4); without < 60 || with > without/4 {
		t.Errorf("%d of 200 limits were lucky ones without confirmation, and %d with; want many and few", without, with)
	}
}

// TestFinish checks a search that is ended early: it confirms the best value that held, falls back to a
// lower one if that fails now, and is over if none held.
func TestFinish(t *testing.T) {
	rising := Config{Rising: true, Start: 100, Least: 1, Most: 1e6, Votes: 3, Confirmations: 1}
	for _, c := range []struct {
		name   string
		before []Outcome
		after  []Outcome
		want   Result
	}{
		{"at once", nil, nil, Result{Done: true, Early: true}},
		{"nothing held", []Outcome{Fails, Fails}, nil, Result{Beyond: 100, Why: Fails, Done: true, Early: true}},
		{"a value held", []Outcome{Holds, Holds}, []Outcome{Holds}, Result{Limit: 200, Confirmed: 2, Done: true, Early: true}},
		{"between two values", []Outcome{Holds, Fails, Fails}, []Outcome{Holds}, Result{Limit: 100, Beyond: 200, Why: Fails, Confirmed: 2, Done: true, Early: true}},
		{"a value that failed once", []Outcome{Holds, Fails}, []Outcome{Holds}, Result{Limit: 100, Confirmed: 2, Done: true, Early: true}},
		{"a value that held by luck", []Outcome{Holds, Holds}, []Outcome{Fails, Holds}, Result{Limit: 100, Beyond: 200, Why: Fails, Confirmed: 2, Done: true, Early: true}},
	} {
		s, err := New(rising)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range c.before {
			s.Report(o)
		}
		s.Finish()
		for _, o := range c.after {
			if _, ok := s.Next(); !ok {
				break
			}
			s.Report(o)
		}
		if got := s.Result(); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	good := Config{Start: 2, Least: 1, Most: 3}
	for _, c := range []struct {
		name   string
		change func(*Config)
		ok     bool
	}{
		{"good", func(*Config) {}, true},
		{"zero", func(c *Config) { c.Least = 0 }, false},
		{"not in order", func(c *Config) { c.Start = 4 }, false},
		{"endless", func(c *Config) { c.Most = math.Inf(1) }, false},
		{"no number", func(c *Config) { c.Start = math.NaN() }, false},
		{"even votes", func(c *Config) { c.Votes = 2 }, false},
		{"precision", func(c *Config) { c.Precision = -1 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := good
			c.change(&cfg)
			if _, err := New(cfg); (err == nil) != c.ok {
				t.Errorf("error %v, want one: %v", err, !c.ok)
			}
		})
	}
}

func TestSamples(t *testing.T) {
	for _, c := range []struct {
		risk, confidence float64
		want             int64 // 0: an error
	}{
		{0.001, 0.95, 2995}, // the rule of three gives 3000
		{0.01, 0.95, 299},
		{0.001, 0.99, 4603},
		{0.5, 0.5, 1},
		{0, 0.95, 0},
		{0.1, 1, 0},
		{math.NaN(), 0.5, 0},
	} {
		got, err := Samples(c.risk, c.confidence)
		if diff := cmp.Diff(got, c.want); diff != "" || (err != nil) != (c.want == 0) {
			t.Errorf("Samples(%v, %v) = %v, %v, want %v", c.risk, c.confidence, got, err, c.want)
		}
		if c.want > 1 && (math.Pow(1-c.risk, float64(got)) > 1-c.confidence || math.Pow(1-c.risk, float64(got-1)) < 1-c.confidence) {
			t.Errorf("%d samples for a risk of %v are not the least that give a confidence of %v", got, c.risk, c.confidence)
		}
	}
}

func TestValidate(t *testing.T) {
	sound := Config{Start: 5, Least: 1, Most: 10}
	for name, change := range map[string]func(*Config){
		"start below least":      func(c *Config) { c.Start = 0.5 },
		"start above most":       func(c *Config) { c.Start = 11 },
		"least of nothing":       func(c *Config) { c.Least = 0 },
		"no number":              func(c *Config) { c.Start = math.NaN() },
		"no end":                 func(c *Config) { c.Most = math.Inf(1) },
		"a precision of nothing": func(c *Config) { c.Precision = math.NaN() },
		"a precision below zero": func(c *Config) { c.Precision = -1 },
		"units below zero":       func(c *Config) { c.Unit = -1 },
		"votes that are even":    func(c *Config) { c.Votes = 2 },
		"confirmations":          func(c *Config) { c.Confirmations = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			c := sound
			change(&c)
			if _, err := New(c); err == nil || !strings.Contains(err.Error(), "; hint: ") {
				t.Errorf("got %v, want an error with a hint", err)
			}
		})
	}
	if err := sound.Validate(); err != nil {
		t.Error(err)
	}
}

// TestOutcomeText checks that the text of each outcome is read again, and that no other is.
func TestOutcomeText(t *testing.T) {
	for _, o := range []Outcome{Unable, Fails, Holds} {
		text, err := o.MarshalText()
		var again Outcome
		if err := errors.Join(err, again.UnmarshalText(text)); err != nil || again != o {
			t.Errorf("%s is read as %s, %v", o, again, err)
		}
	}
	if err := new(Outcome).UnmarshalText([]byte("held")); err == nil || !strings.Contains(err.Error(), `"held" is no outcome of a trial; hint: one of `) {
		t.Errorf("got %v", err)
	}
}
