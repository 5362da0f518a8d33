package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/multiformats/go-varint"
)

// How a message can arrive, from one write to many.
const (
	// as Lotus does: the library negotiates with the first write when identify has told the protocol
	asLibrary = "library"
	// negotiation, message and end, with nothing in between
	inOneWrite = "one"
	// the negotiation alone; message and end together
	inTwoWrites = "two"
	// each byte for itself
	byteByByte = "bytes"
	// the end some time after the rest
	endLater = "late"
)

const (
	rawTimeout = 15 * time.Second
	multi      = "/multistream/1.0.0"
	endAfter   = 200 * time.Millisecond
)

func line(text string) []byte {
	return append(varint.ToUvarint(uint64(len(text)+1)), text+"\n"...)
}

// sendRaw opens a stream, sends one message, ends it, and gives all that comes back behind the negotiation.
func sendRaw(ctx context.Context, h host.Host, to peer.ID, proto, message, mode string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, rawTimeout)
	defer cancel()
	data, err := hex.DecodeString(message)
	if err != nil {
		return "", err
	}
	if mode == asLibrary {
		stream, err := h.NewStream(ctx, to, protocol.ID(proto))
		if err != nil {
			return "", err
		}
		defer stream.Close()
		_ = stream.SetDeadline(time.Now().Add(rawTimeout))
		return exchangeBytes(stream, stream, [][]byte{data}, 0)
	}
	stream, err := h.Network().NewStream(ctx, to)
	if err != nil {
		return "", err
	}
	defer stream.Close()
	_ = stream.SetDeadline(time.Now().Add(rawTimeout))
	negotiation := append(line(multi), line(proto)...)
	all := append(append([]byte{}, negotiation...), data...)
	writes := [][]byte{all}
	wait := time.Duration(0)
	switch mode {
	case inTwoWrites:
		writes = [][]byte{negotiation, data}
	case byteByByte:
		writes = nil
		for i := range all {
			writes = append(writes, all[i:i+1])
		}
	case endLater:
		wait = endAfter
	}
	r := bufio.NewReader(stream)
	answer, err := exchangeBytes(stream, r, writes, wait, multi, proto)
	return answer, err
}

func exchangeBytes(s network.Stream, r io.Reader, writes [][]byte, wait time.Duration, lines ...string) (string, error) {
	for _, one := range writes {
		if _, err := s.Write(one); err != nil {
			return "", err
		}
	}
	time.Sleep(wait)
	if err := s.CloseWrite(); err != nil {
		return "", err
	}
	for _, expected := range lines {
		got := make([]byte, len(line(expected)))
		if _, err := io.ReadFull(r, got); err != nil {
			return "", fmt.Errorf("negotiation: %w", err)
		}
		if string(got) != string(line(expected)) {
			return "", fmt.Errorf("negotiation: %q", got)
		}
	}
	answer, err := io.ReadAll(r)
	return hex.EncodeToString(answer), err
}
