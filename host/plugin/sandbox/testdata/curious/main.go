// Command curious is a module that examines its environment as its options or parameters say. Its
// searcher refuses to open with what it found as the error.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/serve"
)

func main() {
	serve.Run(serve.Set{
		Searcher: &sdk.SearcherPlugin{Info: sdk.Info{Name: "curious"}, Open: func(_ sdk.Problem, options []byte) (sdk.Searcher, sdk.Traits, error) {
			return nil, sdk.Traits{}, errors.New(look(options))
		}},
		Trainable: &sdk.TrainablePlugin{Info: sdk.Info{Name: "curious"}, Open: func([]byte) (sdk.Trainable, sdk.TrainableTraits, error) {
			return trainable{}, sdk.TrainableTraits{Saves: true}, nil
		}},
	})
	panic("serve.Run has returned")
}

type options struct{ Do, Path string }

func look(raw []byte) string {
	var o options
	if err := json.Unmarshal(raw, &o); err != nil {
		return err.Error()
	}
	switch o.Do {
	case "read":
		b, err := os.ReadFile(o.Path)
		return fmt.Sprintf("read %q, %v", b, err)
	case "write":
		return fmt.Sprint(os.WriteFile(o.Path, []byte("x"), 0o600))
	case "link":
		return fmt.Sprint(os.Symlink("/etc", o.Path))
	case "list":
		entries, err := os.ReadDir(o.Path)
		return fmt.Sprint(len(entries), err)
	case "dial":
		_, err := net.DialTimeout("tcp", o.Path, time.Second)
		return fmt.Sprint(err)
	case "listen":
		_, err := net.Listen("tcp", "127.0.0.1:0")
		return fmt.Sprint(err)
	case "world":
		b := make([]byte, 8)
		_, err := rand.Read(b)
		return fmt.Sprintf("%v %x %v %q %q", time.Now().UTC(), b, err, os.Environ(), os.Args)
	case "sleep":
		time.Sleep(time.Minute)
		return "awake"
	case "memory":
		var all [][]byte
		for len(all) < 1000 {
			all = append(all, []byte(strings.Repeat("x", 1<<20)))
		}
		return fmt.Sprint(len(all), " MiB")
	case "stderr":
		fmt.Println("a word")
		fmt.Fprintln(os.Stderr, "last words")
		os.Exit(4)
	case "crash":
		go func() { panic("no luck") }()
		time.Sleep(time.Minute)
	case "deadlock":
		select {}
	}
	return "nothing"
}

// trainable also computes what a trial needs, unless it is told to fail.
type trainable struct{}

func (trainable) Request(params []byte) ([]byte, error) {
	var o options
	if err := json.Unmarshal(params, &o); err != nil {
		return nil, err
	}
	if o.Do == "exit" {
		os.Exit(5)
	}
	return []byte(`{"cpu": 3}`), nil
}

func (trainable) Train(_ context.Context, run sdk.Run) error {
	var o options
	if err := json.Unmarshal(run.Trial().Params, &o); err != nil {
		return err
	}
	run.Log("training " + run.Trial().ID + run.Trial().Dir)
	result := sdk.Result{Metrics: []sdk.Metric{{Name: "loss", Value: 1}}}
	switch o.Do {
	case "panic":
		panic("no luck")
	case "crash", "memory":
		return errors.New(look(run.Trial().Params))
	case "fail":
		return errors.New("the loss is NaN")
	case "until stopped":
		<-run.(sdk.Stopper).Stopped()
		return run.Report(result, nil)
	case "look":
		for turns := 0; ; turns++ {
			select {
			case <-run.(sdk.Stopper).Stopped():
				run.Log("stopped")
				return nil
			default:
			}
		}
	case "told":
		err := run.Report(result, nil)
		run.Log("it was told: " + err.Error())
		return err
	case "reject":
		run.(sdk.Rejecter).Reject("los=0.3")
		return nil
	case "checkpoint":
		result.Checkpoint = "/tmp"
		return run.Report(result, nil)
	case "dir":
		return run.Report(result, func(dir string) error { return os.WriteFile(dir+"/model", nil, 0o600) })
	case "cannot save":
		return sdk.ReportState(run, result, func() ([]byte, error) { return nil, errors.New("the state is secret") })
	case "empty":
		state, err := sdk.RestoredState(run)
		run.Log(fmt.Sprint(state != nil, len(state), err))
		return sdk.ReportState(run, result, func() ([]byte, error) { return nil, nil })
	}
	return nil
}
