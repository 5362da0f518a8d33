package main

import (
	"context"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	cbg "github.com/whyrusleeping/cbor-gen"
)

const helloProtocol = protocol.ID("/fil/hello/1.0.0")

const helloTimeout = 10 * time.Second

// hello greets whoever connects and answers who greets, as Lotus does: the greeting and the end of the stream leave at
// once, together with the negotiation when identify has already told that the other side speaks the protocol.
type hello struct {
	host  host.Host
	chain *chain
	stats *stats
	// told of the head of a peer on the same chain
	heard func(peer.ID, []cid.Cid)
}

func (s *hello) greeting() []byte {
	head := s.chain.currentHead()
	var w writer
	w.array(4)
	w.cids(keyOf(head))
	w.int(head[0].height)
	w.raw(head[0].weight)
	w.cid(s.chain.genesis)
	return w.Bytes()
}

func (s *hello) say(ctx context.Context, to peer.ID) error {
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	stream, err := s.host.NewStream(ctx, to, helloProtocol)
	if err != nil {
		return err
	}
	defer stream.Close()
	s.stats.add("hello said", 1)
	if _, err := stream.Write(s.greeting()); err != nil {
		return err
	}
	if err := stream.CloseWrite(); err != nil {
		return err
	}
	_ = stream.SetReadDeadline(time.Now().Add(helloTimeout))
	r := streamReader(stream)
	if err := readTuple(r, 2); err != nil {
		return err
	}
	for range 2 {
		if _, err := readHead(r, cbg.MajUnsignedInt); err != nil {
			return err
		}
	}
	s.stats.add("hello answered", 1)
	return nil
}

func (s *hello) handle(stream network.Stream) {
	from := stream.Conn().RemotePeer()
	_ = stream.SetDeadline(time.Now().Add(helloTimeout))
	arrived := time.Now()
	head, genesis, err := readGreeting(streamReader(stream))
	if err != nil || genesis != s.chain.genesis {
		s.stats.add("hello refused", 1)
		_ = stream.Conn().Close()
		return
	}
	s.stats.add("hello heard", 1)
	var w writer
	w.array(2)
	w.int(arrived.UnixNano())
	w.int(time.Now().UnixNano())
	_, _ = stream.Write(w.Bytes()) // who does not wait for it has lost nothing
	_ = stream.Close()
	s.heard(from, head)
}

func readGreeting(r *cbg.CborReader) ([]cid.Cid, cid.Cid, error) {
	if err := readTuple(r, 4); err != nil {
		return nil, cid.Undef, err
	}
	head, err := readCids(r)
	if err != nil {
		return nil, cid.Undef, err
	}
	for range 2 { // height and weight
		var one raw
		if err := one.UnmarshalCBOR(r); err != nil {
			return nil, cid.Undef, err
		}
	}
	genesis, err := cbg.ReadCid(r)
	return head, genesis, err
}
