package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tunehost/tunehost/host/asktell"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/serve/experiments"
	"github.com/tunehost/tunehost/host/serve/problem"
	"github.com/tunehost/tunehost/host/serve/spawn"
)

// StartRequest is the body of a request to begin an experiment.
type StartRequest struct {
	File string `json:"file" minLength:"1" doc:"the text of an experiment file; its paths begin where the server runs"`
	Name string `json:"name,omitempty" doc:"the name of the experiment, instead of that in the file"`
	// Set are overrides of keys.
	Set        map[string]any `json:"set,omitempty" doc:"override keys of the file, such as trials"`
	AskAndTell bool           `json:"ask_and_tell,omitempty" doc:"workers train the trials: they ask, report and tell"`
}

type startOne struct {
	Once
	Body StartRequest
}

type started struct {
	Status int
	Body   startedBody
}

type startedBody struct {
	ID      string `json:"id" doc:"the id of the experiment, in paths: its name, or NAME-2 and so on if that was taken"`
	Message string `json:"message"`
	// Warnings are about keys of the file that have no effect.
	Warnings []string `json:"warnings,omitempty" doc:"what in the file is not used"`
}

// starters registers the operation that begins experiments.
func (s *Server) starters() {
	huma.Register(s.api, huma.Operation{OperationID: "start", Method: http.MethodPost, Path: v1 + "/experiments",
		Summary: "Begin an experiment, as `run FILE --resume never`; its host does not end with the server",
		Tags:    []string{"steer"}, MaxBodyBytes: -1, BodyReadTimeout: -1, DefaultStatus: http.StatusCreated},
		func(ctx context.Context, in *startOne) (*started, error) {
			dir, err := s.start(ctx, &in.Body)
			if err != nil {
				return nil, mistaken(err)
			}
			id, err := s.catalog.ID(dir)
			if err != nil {
				return nil, problem.Of(err)
			}
			return &started{http.StatusCreated, startedBody{id, "the experiment " + id + " has begun",
				unused(&in.Body)}}, nil
		})
}

// unused says what an experiment for workers does not use of its file.
func unused(r *StartRequest) (warnings []string) {
	if !r.AskAndTell {
		return nil
	}
	e, err := config.Parse(fileName, []byte(r.File), config.WithoutTrainable())
	if err != nil || e.Trainable == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s: trainable: it is not used: with ask_and_tell workers train the trials; leave "+
		"ask_and_tell out if the trainable is to train them", e.PosOf("trainable"))}
}

// mistaken is the problem of an experiment that cannot begin. If its file names something that does not exist, the
// mistake is in the file, and not in the path of the request.
func mistaken(err error) error {
	p := problem.Of(err)
	var as *problem.Problem
	if errors.As(p, &as) && as.Status == http.StatusNotFound {
		return problem.Invalid(err)
	}
	return p
}

// fileName is the name of the experiment file in messages; programs in it are relative to its folder.
const fileName = "experiment.yaml"

// start begins an experiment in the first folder, and returns its directory.
func (s *Server) start(ctx context.Context, r *StartRequest) (string, error) {
	root, err := s.root()
	if err != nil {
		return "", err
	}
	if err := experiments.Owned(root); err != nil {
		return "", problem.Conflict(err)
	}
	if err := experiments.RoomForNew(root); err != nil {
		return "", err
	}
	sets, err := setsOf(r.Set)
	if err != nil {
		return "", problem.Invalid(err)
	}
	for i, set := range sets {
		if err := config.CheckSet(sets[:i], set); err != nil {
			return "", problem.Invalid(err)
		}
	}
	if err := storedAt(root, r, sets); err != nil {
		return "", err
	}
	s.starting.Lock()
	defer s.starting.Unlock()
	if r.AskAndTell {
		return s.startHere(root, r, sets)
	}
	asked, err := json.Marshal(Asked{r.File, r.Name, sets})
	if err != nil {
		return "", err
	}
	args := []string{"run", "-", RequestFlag, "--storage", root, "--resume", "never", "-v", "0"}
	return spawn.Host(ctx, args, asked, func() ([]string, error) { return experiments.Within(root) })
}

// RequestFlag says to a host that its standard input is what a client asked for.
const RequestFlag = "--request"

// Asked is what a client asked for, as its host reads it. Every user sees command lines, which are short and cannot
// have every character.
type Asked struct {
	File string   `json:"file"`
	Name string   `json:"name"`
	Sets []string `json:"sets"`
}

// ReadAsked reads what a server wrote.
func ReadAsked(in io.Reader) (x Asked, err error) { return x, json.NewDecoder(in).Decode(&x) }

// storedAt refuses a file whose experiment would not be stored in a folder: this server would not show it. Other
// mistakes are those of the host.
func storedAt(root string, r *StartRequest, sets []string) error {
	e, err := config.Parse(fileName, []byte(r.File), config.WithSet(sets...), config.WithoutTrainable())
	if err != nil {
		return nil
	}
	at := e.PosOf("storage")
	if whole, err := filepath.Abs(e.Storage); at == e.PosOf("") || err == nil && whole == root {
		return nil
	}
	return problem.Invalid(fmt.Errorf("%s: storage: this server stores what it begins in %s: leave the key out, or "+
		"begin the experiment with `tunehost run`", at, root))
}

// root is the folder of new experiments.
func (s *Server) root() (string, error) {
	if s.Single {
		return "", problem.Conflict(errors.New("this server shows one experiment: `tunehost serve DIR` on the folder " +
			"of experiments begins others"))
	}
	root, err := s.catalog.Root()
	if err != nil {
		return "", problem.Conflict(err)
	}
	return root, nil
}

// startHere begins an experiment for workers. The server is its host.
func (s *Server) startHere(root string, r *StartRequest, sets []string) (string, error) {
	o := s.manual()
	o.File, o.Mode.Source, o.Sets, o.Storage, o.Name, o.Resume = fileName, []byte(r.File), sets, root, r.Name, "never"
	a, err := asktell.Start(context.Background(), o)
	if err != nil {
		return "", err
	}
	s.sessions.add(a)
	return a.Dir().Path(), nil
}
