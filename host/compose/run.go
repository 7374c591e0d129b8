package compose

import (
	"context"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/compose/live"
	"github.com/tunehost/tunehost/host/compose/views"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/view"
)

// Run runs the experiment to its end. An interrupt is an event like any other.
func (s *Session) Run(ctx context.Context) (options.Ended, error) {
	turning, stop := context.WithCancel(context.Background())
	defer stop()
	if err := s.Copy(); err != nil {
		return s.Views.Ended(), err
	}
	host, ended := s.live(turning.Done()), make(chan struct{})
	defer close(ended)
	leaving, leave := context.WithCancel(ctx)
	defer leave()
	host.EndIfFull = leave
	defer context.AfterFunc(leaving, s.Drivers.Leave)()
	var running *options.Running
	if s.Options.OnStart != nil {
		running = host.Started(s.Drivers.Publishing, s.recovery.ToldBefore, ended)
	}
	s.startDrivers(turning)
	if s.recovery.Begun && s.Machine.Paused() {
		s.Views.SayPaused()
	}
	exit := s.Options.Exit
	exit.Set(s.Views.Shown)
	defer exit.Set(nil)
	deaf := host.Listen()
	if running != nil {
		go s.Options.OnStart(*running)
	}
	go s.Views.Shown.Draw(turning)
	interrupt := context.AfterFunc(ctx, func() {
		s.inbox.Post(&core.Interrupted{})
		host.SayAwaited(live.QuietEnd)
	})
	defer interrupt()
	broken := s.endOnFailure(turning, stop)
	err := s.Safely(func() error { return s.engine.Run(turning, leaving.Done()) })
	stop()
	if cause := <-broken; cause != nil {
		err = cause
	}
	deaf()
	if err == nil {
		s.Views.Board.Write(true) // what is shown last is how it ended
	}
	s.stopDrivers(err != nil)
	return s.Views.Ended(), s.finish(err)
}

// finish ends a run that ended with err, or nil.
func (s *Session) finish(err error) error {
	if err == nil {
		err = s.Missing()
	}
	if s.Plan.Remote != nil {
		s.Options.Exit.Remind() // copying may take a while
		s.Plan.Remote.Finish(s.Warn)
	}
	if s.broken = err != nil; s.broken {
		s.Log.Info("the host stops: " + err.Error()) // the caller says it to the user
	} else {
		s.Views.Shown.SumUp()
	}
	return err
}

// Settings returns what changes the settings of the experiment; nil: nothing is stored for later hosts.
func (s *Session) Settings() steer.Settings { return s.live(nil).Settings() }

// live makes the host reachable for readers and other commands, until the loop ends.
func (s *Session) live(over <-chan struct{}) *live.Host {
	host := s.first()
	h := &live.Host{Setup: s.Setup, Views: s.Views, Inbox: s.inbox, Request: s.Plugins.Request, Rules: host.Rules(),
		Spec: host.Spec, Over: over, Saving: s.saving}
	h.Steer(s.engine.Running)
	return h
}

// saving says how far the checkpoint of a trial is that is being saved.
func (s *Session) saving(no core.TrialNo) (done, total int64) {
	if s.Drivers == nil || s.Drivers.Training == nil {
		return 0, 0
	}
	return s.Drivers.Training.Saving(no)
}

// endOnFailure stops the loop if something else fails. Once the loop has ended, the channel
// has that error, or nil.
func (s *Session) endOnFailure(turning context.Context, stop func()) <-chan error {
	broken := make(chan error, 1)
	go func() {
		select {
		case err := <-s.Failed():
			broken <- err
			stop()
		case <-turning.Done():
			broken <- nil
		}
	}()
	return broken
}

func (s *Session) startDrivers(ctx context.Context) {
	s.report()
	s.leasing.Start()
	s.Drivers.Start(ctx)
}

// report starts the reporters of the experiment file and the progress display.
func (s *Session) report() {
	publishing, after := s.Drivers.Publishing, s.recovery.ToldBefore
	host := &live.Host{Setup: s.Setup, Views: s.Views, Inbox: s.inbox}
	s.Drivers.Publish(s.Views.Reporters(views.Telling{Reported: s.recovery.Reported, ToldBefore: after,
		Plugins: s.Plugins.Relays, Follow: func() *view.Follower { return host.Follow(publishing, after) }}))
}

// stopDrivers ends the drivers in order: training ends first, then the last events are published.
func (s *Session) stopDrivers(broken bool) {
	s.leasing.Stop(broken)
	s.inbox.Close()
	s.Drivers.Stop()
	if !broken {
		s.Drivers.PublishRest()
		s.Views.Shown.End()
	}
}

// Publish starts the reporters of the experiment file. An experiment that is only held in memory
// has none.
func (s *Session) Publish() {
	if s.Kept() {
		s.report()
	} else {
		s.Drivers.Publish(nil)
	}
}
