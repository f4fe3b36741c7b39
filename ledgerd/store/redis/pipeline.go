package redis

import (
	"cmp"
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// errUnanswered is a command's error until an answer to it was read.
var errUnanswered = errors.New("the server was not asked")

// roundTrip sends what a pipeline has. Every pipeline goes through here: afterwards a command that has no error was
// answered. The client library alone does not say so: where the server refuses a new connection by an answer of its own
// (a password that was changed, a user who is gone), it gives the error to the caller and leaves the commands without
// one, as if each had been answered by nothing.
func roundTrip(ctx context.Context, pipe redis.Pipeliner) {
	cmds := pipe.Cmds()
	for _, cmd := range cmds {
		cmd.SetErr(errUnanswered)
	}
	_, err := pipe.Exec(ctx)
	for _, cmd := range cmds {
		if errors.Is(cmd.Err(), errUnanswered) {
			cmd.SetErr(cmp.Or(err, errUnanswered))
		}
	}
}

// answered says that an error is the server's own answer to a command. That it refuses the credentials is none.
func answered(err error) bool {
	var e redis.Error
	return errors.As(err, &e) && !redis.IsAuthError(err)
}
