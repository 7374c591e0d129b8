package experiments

import "github.com/tunehost/tunehost/host/storage"

// Room is [storage.Room]: a client who waits for an answer is told before that there is no room.
func Room(dir string) error { return storage.Room(dir) }

// RoomForNew is [storage.RoomForNew].
func RoomForNew(dir string) error { return storage.RoomForNew(dir) }
