package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	cbg "github.com/whyrusleeping/cbor-gen"
)

const exchangeProtocol = protocol.ID("/fil/chain/xchg/0.0.1")

const (
	wantHeaders  = 1
	wantMessages = 2

	statusOk         = 0
	statusPartial    = 101
	statusError      = 203
	statusBadRequest = 204

	maxLength       = 900
	exchangeTimeout = 60 * time.Second
)

// exchange serves tipsets with their messages, and asks for them.
type exchange struct {
	host  host.Host
	chain *chain
	stats *stats
}

func (s *exchange) handle(stream network.Stream) {
	defer stream.Close()
	_ = stream.SetDeadline(time.Now().Add(exchangeTimeout))
	head, length, options, err := readRequest(streamReader(stream))
	if err != nil {
		_ = stream.Reset()
		return
	}
	s.stats.add("exchange served", 1)
	_, _ = stream.Write(s.answer(context.Background(), head, length, options)) // the asker sees what is missing
}

func readRequest(r *cbg.CborReader) (head []cid.Cid, length, options uint64, err error) {
	if err = readTuple(r, 3); err != nil {
		return
	}
	if head, err = readCids(r); err != nil {
		return
	}
	if length, err = readHead(r, cbg.MajUnsignedInt); err != nil {
		return
	}
	options, err = readHead(r, cbg.MajUnsignedInt)
	return
}

func refuse(status int64, text string) []byte {
	var w writer
	w.array(3)
	w.int(status)
	w.head(cbg.MajTextString, uint64(len(text)))
	w.raw([]byte(text))
	w.array(0)
	return w.Bytes()
}

func (s *exchange) answer(ctx context.Context, key []cid.Cid, length, options uint64) []byte {
	if options&(wantHeaders|wantMessages) == 0 || length == 0 || length > maxLength || len(key) == 0 {
		return refuse(statusBadRequest, "bad request")
	}
	found := [][]byte{}
	for uint64(len(found)) < length {
		tipset, err := s.chain.tipset(ctx, key)
		if err != nil {
			return refuse(statusError, err.Error())
		}
		one, err := s.tipsetAnswer(ctx, tipset, options)
		if err != nil {
			return refuse(statusError, err.Error())
		}
		found = append(found, one)
		if tipset[0].height == 0 {
			break
		}
		key = tipset[0].parents
	}
	var w writer
	w.array(3)
	if uint64(len(found)) == length {
		w.int(statusOk)
	} else {
		w.int(statusPartial)
	}
	w.head(cbg.MajTextString, 0)
	w.array(len(found))
	w.raw(found...)
	return w.Bytes()
}

func (s *exchange) tipsetAnswer(ctx context.Context, tipset []*header, options uint64) ([]byte, error) {
	var w writer
	w.array(2)
	if options&wantHeaders == 0 {
		w.array(0)
	} else {
		w.array(len(tipset))
		for _, h := range tipset {
			w.raw(h.data)
		}
	}
	if options&wantMessages == 0 {
		w.raw(cbg.CborNull)
		return w.Bytes(), nil
	}
	var bls, secpk compacted
	for _, h := range tipset {
		found, err := s.chain.messages(ctx, h)
		if err != nil {
			return nil, err
		}
		bls.add(found.bls)
		secpk.add(found.secpk)
	}
	w.array(4)
	for _, list := range []*compacted{&bls, &secpk} {
		w.array(len(list.cids))
		for _, name := range list.cids {
			data, err := s.chain.load(ctx, name)
			if err != nil {
				return nil, err
			}
			w.raw(data)
		}
		w.indices(list.includes)
	}
	return w.Bytes(), nil
}

// compacted are the messages of a tipset, each once, and which of them each block has.
type compacted struct {
	cids     []cid.Cid
	at       map[cid.Cid]uint64
	includes [][]uint64
}

func (l *compacted) add(cids []cid.Cid) {
	if l.at == nil {
		l.at = map[cid.Cid]uint64{}
	}
	list := []uint64{}
	for _, name := range cids {
		at, known := l.at[name]
		if !known {
			at = uint64(len(l.cids))
			l.at[name] = at
			l.cids = append(l.cids, name)
		}
		list = append(list, at)
	}
	l.includes = append(l.includes, list)
}

// received is an answer. Headers are named by what they are; messages are checked against them and kept.
type received struct {
	status   uint64
	text     string
	tipsets  [][]*header
	messages int
}

func (s *exchange) ask(ctx context.Context, of peer.ID, head []cid.Cid, length, options uint64) (*received, error) {
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	stream, err := s.host.NewStream(ctx, of, exchangeProtocol)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	_ = stream.SetDeadline(time.Now().Add(exchangeTimeout))
	var w writer
	w.array(3)
	w.cids(head)
	w.int(int64(length))
	w.int(int64(options))
	if _, err := stream.Write(w.Bytes()); err != nil {
		return nil, err
	}
	if err := stream.CloseWrite(); err != nil {
		return nil, err
	}
	return s.readAnswer(ctx, streamReader(stream), head)
}

func (s *exchange) readAnswer(ctx context.Context, r *cbg.CborReader, key []cid.Cid) (*received, error) {
	got := &received{}
	if err := readTuple(r, 3); err != nil {
		return nil, err
	}
	var err error
	if got.status, err = readHead(r, cbg.MajUnsignedInt); err != nil {
		return nil, err
	}
	if got.text, err = cbg.ReadStringWithMax(r, maxItems); err != nil {
		return nil, err
	}
	err = readList(r, maxLength, func() error {
		if err := readTuple(r, 2); err != nil {
			return err
		}
		blocks, err := readRaws(r, maxItems)
		if err != nil {
			return err
		}
		tipset := []*header{}
		for _, one := range blocks {
			h, err := parseHeader(one.Raw)
			if err != nil {
				return err
			}
			tipset = append(tipset, h)
		}
		if len(tipset) > 0 {
			if !slices.Equal(keyOf(tipset), key) {
				return fmt.Errorf("tipset %v in place of %v", keyOf(tipset), key)
			}
			key = tipset[0].parents
		}
		count, err := s.readMessages(ctx, r, tipset)
		if err != nil {
			return err
		}
		for _, h := range tipset {
			s.chain.put(ctx, h.data)
		}
		got.messages += count
		got.tipsets = append(got.tipsets, tipset)
		return nil
	})
	return got, err
}

// readMessages reads those of a tipset, keeps them, and compares their lists with the headers that name them.
func (s *exchange) readMessages(ctx context.Context, r *cbg.CborReader, tipset []*header) (int, error) {
	var whole raw
	if err := whole.UnmarshalCBOR(r); err != nil {
		return 0, err
	}
	if slices.Equal(whole.Raw, cbg.CborNull) {
		return 0, nil
	}
	r = reader(whole.Raw)
	if err := readTuple(r, 4); err != nil {
		return 0, err
	}
	count := 0
	named := make([][][]cid.Cid, 2)
	for kind := range named {
		items, err := readRaws(r, maxMessages)
		if err != nil {
			return 0, err
		}
		count += len(items)
		includes, err := readIndices(r)
		if err != nil {
			return 0, err
		}
		for _, list := range includes {
			cids := []cid.Cid{}
			for _, at := range list {
				if at >= uint64(len(items)) {
					return 0, fmt.Errorf("%w: message %d of %d", errShape, at, len(items))
				}
				cids = append(cids, s.chain.put(ctx, items[at].Raw))
			}
			named[kind] = append(named[kind], cids)
		}
	}
	for i, h := range tipset {
		if i >= len(named[0]) || i >= len(named[1]) {
			return 0, fmt.Errorf("%w: a block without its list of messages", errShape)
		}
		if root := s.chain.putLists(ctx, &lists{named[0][i], named[1][i]}); root != h.messages {
			return 0, fmt.Errorf("the messages of block %s make %s, the header says %s", h.cid, root, h.messages)
		}
	}
	return count, nil
}
