package main

import (
	"context"

	"github.com/ipfs/go-cid"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	cbg "github.com/whyrusleeping/cbor-gen"
	"golang.org/x/crypto/blake2b"
)

// waitingMessages is how many may wait to be read; what comes beyond is lost, which bitswap and exchange make good.
const waitingMessages = 20_000

// gossip carries blocks and messages.
type gossip struct {
	chain  *chain
	stats  *stats
	blocks *pubsub.Topic
	// told of a block that came, with the CIDs of its messages
	heard func(peer.ID, *header, *lists)
}

func messageId(m *pb.Message) string {
	sum := blake2b.Sum256(m.Data)
	return string(sum[:])
}

func startGossip(ctx context.Context, h host.Host, network string, g *gossip) error {
	ps, err := pubsub.NewGossipSub(ctx, h, pubsub.WithMessageIdFn(messageId))
	if err != nil {
		return err
	}
	for name, take := range map[string]func(*pubsub.Message){
		"/fil/blocks/" + network: g.takeBlock,
		"/fil/msgs/" + network:   g.takeMessage,
	} {
		topic, err := ps.Join(name)
		if err != nil {
			return err
		}
		if name == "/fil/blocks/"+network {
			g.blocks = topic
		}
		sub, err := topic.Subscribe(pubsub.WithBufferSize(waitingMessages))
		if err != nil {
			return err
		}
		go func() {
			for {
				m, err := sub.Next(ctx)
				if err != nil {
					return // the program ends
				}
				if m.ReceivedFrom != h.ID() {
					take(m)
				}
			}
		}()
	}
	return nil
}

func (g *gossip) takeMessage(m *pubsub.Message) {
	data, err := messageBlock(m.Data)
	if err != nil {
		g.stats.add("messages unreadable", 1)
		return
	}
	g.stats.add("messages heard", 1)
	g.chain.put(context.Background(), data)
}

func (g *gossip) takeBlock(m *pubsub.Message) {
	r := reader(m.Data)
	var data raw
	var cids [2][]cid.Cid
	err := readTuple(r, 3)
	if err == nil {
		err = data.UnmarshalCBOR(r)
	}
	for i := range cids {
		if err == nil {
			cids[i], err = readCids(r)
		}
	}
	var h *header
	if err == nil {
		h, err = parseHeader(data.Raw)
	}
	if err != nil {
		g.stats.add("blocks unreadable", 1)
		return
	}
	g.stats.add("blocks heard", 1)
	g.heard(m.ReceivedFrom, h, &lists{cids[0], cids[1]})
}

// publish sends the blocks of a tipset.
func (g *gossip) publish(ctx context.Context, tipset []*header) error {
	for _, h := range tipset {
		found, err := g.chain.messages(ctx, h)
		if err != nil {
			return err
		}
		var w writer
		w.head(cbg.MajArray, 3)
		w.raw(h.data)
		w.cids(found.bls)
		w.cids(found.secpk)
		if err := g.blocks.Publish(ctx, w.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
