package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// load is one measurement: closed-loop callers on connections of their own, which are kept.
type load struct {
	address     string
	connections int
	limit       time.Duration
	calls       int                // at most
	body        func(n int) []byte // of the n-th call, from 0
	outcome     string             // what x-idem-outcome must say; empty: there must be none
}

// figures are what a measurement gave.
type figures struct {
	calls     int
	perSecond float64
	p50, p99  time.Duration

	envoyCPU, ledgerdCPU float64 // microseconds a call
}

// measure calls until the limit or the number of calls is reached. Any wrong reply is an error.
func (l load) measure(ctx context.Context) (figures, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var done sync.WaitGroup
	took := make([][]time.Duration, l.connections)
	began := time.Now()
	for i := range l.connections {
		done.Go(func() {
			var err error
			if took[i], err = l.callOneByOne(ctx, began, &next); err != nil {
				cancel(err)
			}
		})
	}
	done.Wait()
	elapsed := time.Since(began)
	if err := context.Cause(ctx); err != nil {
		return figures{}, err
	}
	all := slices.Concat(took...)
	if len(all) == 0 {
		return figures{}, errors.New("no call was answered in time")
	}
	slices.Sort(all)
	return figures{
		calls:     len(all),
		perSecond: float64(len(all)) / elapsed.Seconds(),
		p50:       all[len(all)/2],
		p99:       all[len(all)*99/100],
	}, nil
}

// callOneByOne is one caller.
func (l load) callOneByOne(ctx context.Context, began time.Time, next *atomic.Int64) ([]time.Duration, error) {
	c, err := dial(l.address)
	if err != nil {
		return nil, err
	}
	defer c.conn.Close()
	took := make([]time.Duration, 0, 1<<16)
	for ctx.Err() == nil && time.Since(began) < l.limit {
		n := next.Add(1) - 1
		if n >= int64(l.calls) {
			break
		}
		sent := time.Now()
		if err := c.call(l.body(int(n)), l.outcome); err != nil {
			return nil, fmt.Errorf("call %d: %w", n, err)
		}
		took = append(took, time.Since(sent))
	}
	return took, nil
}

// conn is an HTTP/1.1 connection that does the least that a caller can do: it shares the machine with what it
// measures.
type conn struct {
	conn    net.Conn
	reader  *bufio.Reader
	request []byte
	reply   []byte
}

// callTimeout ends a run that hangs.
const callTimeout = 30 * time.Second

func dial(address string) (*conn, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &conn{conn: c, reader: bufio.NewReaderSize(c, 16<<10)}, nil
}

// call sends a body to the guarded tool and reads the whole reply.
func (c *conn) call(body []byte, outcome string) error {
	c.request = append(c.request[:0], "POST /tools/refund HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: "...)
	c.request = strconv.AppendInt(c.request, int64(len(body)), 10)
	c.request = append(c.request, "\r\n\r\n"...)
	c.request = append(c.request, body...)
	if err := c.conn.SetDeadline(time.Now().Add(callTimeout)); err != nil {
		return err
	}
	if _, err := c.conn.Write(c.request); err != nil {
		return err
	}
	status, err := c.reader.ReadSlice('\n')
	if err != nil {
		return err
	}
	ok := bytes.HasPrefix(status, []byte("HTTP/1.1 200 "))
	c.reply = append(c.reply[:0], status...)
	length, got := 0, ""
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case string(name) == "content-length":
			if length, err = strconv.Atoi(string(value)); err != nil {
				return err
			}
		case string(name) == "x-idem-outcome" && string(value) != outcome:
			got = string(value)
		case string(name) == "x-idem-outcome":
			got = outcome // without an allocation
		}
	}
	head := len(c.reply)
	c.reply = slices.Grow(c.reply, length)[:head+length]
	if _, err := io.ReadFull(c.reader, c.reply[head:]); err != nil {
		return err
	}
	if !ok || got != outcome {
		return fmt.Errorf("want status 200 and outcome %q, got outcome %q: %s", outcome, got, c.reply)
	}
	return nil
}
