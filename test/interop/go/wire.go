package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ipfs/go-cid"
	mh "github.com/multiformats/go-multihash"
	cbg "github.com/whyrusleeping/cbor-gen"
)

// Pieces of CBOR are kept as the bytes that came: what is passed on is what was received.
type raw = cbg.Deferred

// limits of lists that are read, as in Lotus' decoders
const (
	maxItems    = 8192
	maxMessages = 150_000
)

var errShape = errors.New("unexpected CBOR")

// cidOf names a dag-cbor block by BLAKE2b-256, as all of a chain's blocks are.
func cidOf(data []byte) cid.Cid {
	sum, err := mh.Sum(data, mh.BLAKE2B_MIN+31, -1)
	if err != nil {
		panic(err) // the function is compiled in
	}
	return cid.NewCidV1(cid.DagCBOR, sum)
}

// readHead reads the head of an item of this major type and gives its number.
func readHead(r *cbg.CborReader, major byte) (uint64, error) {
	got, n, err := r.ReadHeader()
	if err != nil {
		return 0, err
	}
	if got != major {
		return 0, fmt.Errorf("%w: major type %d in place of %d", errShape, got, major)
	}
	return n, nil
}

// readList reads an array of at most limit items, each with item.
func readList(r *cbg.CborReader, limit uint64, item func() error) error {
	n, err := readHead(r, cbg.MajArray)
	if err != nil {
		return err
	}
	if n > limit {
		return fmt.Errorf("%w: a list of %d, more than %d", errShape, n, limit)
	}
	for ; n > 0; n-- {
		if err := item(); err != nil {
			return err
		}
	}
	return nil
}

func readTuple(r *cbg.CborReader, size uint64) error {
	n, err := readHead(r, cbg.MajArray)
	if err == nil && n != size {
		err = fmt.Errorf("%w: a tuple of %d in place of %d", errShape, n, size)
	}
	return err
}

func readCids(r *cbg.CborReader) ([]cid.Cid, error) {
	cids := []cid.Cid{}
	err := readList(r, maxItems*2, func() error {
		c, err := cbg.ReadCid(r)
		cids = append(cids, c)
		return err
	})
	return cids, err
}

func readRaws(r *cbg.CborReader, limit uint64) ([]raw, error) {
	items := []raw{}
	err := readList(r, limit, func() error {
		var one raw
		err := one.UnmarshalCBOR(r)
		items = append(items, one)
		return err
	})
	return items, err
}

func readIndices(r *cbg.CborReader) ([][]uint64, error) {
	lists := [][]uint64{}
	err := readList(r, maxItems, func() error {
		list := []uint64{}
		err := readList(r, maxItems*2, func() error {
			n, err := readHead(r, cbg.MajUnsignedInt)
			list = append(list, n)
			return err
		})
		lists = append(lists, list)
		return err
	})
	return lists, err
}

// reader of bytes at hand.
func reader(data []byte) *cbg.CborReader { return cbg.NewCborReader(bytes.NewReader(data)) }

// streamReader reads a stream in few calls.
func streamReader(s io.Reader) *cbg.CborReader { return cbg.NewCborReader(bufio.NewReader(s)) }

// writer gathers CBOR; writing to memory does not fail.
type writer struct {
	bytes.Buffer
	scratch [9]byte
}

func (w *writer) head(major byte, n uint64) {
	_ = cbg.WriteMajorTypeHeaderBuf(w.scratch[:], &w.Buffer, major, n)
}

func (w *writer) array(n int) { w.head(cbg.MajArray, uint64(n)) }

func (w *writer) cid(c cid.Cid) { _ = cbg.WriteCidBuf(w.scratch[:], &w.Buffer, c) }

func (w *writer) cids(list []cid.Cid) {
	w.array(len(list))
	for _, c := range list {
		w.cid(c)
	}
}

func (w *writer) int(n int64) {
	if n >= 0 {
		w.head(cbg.MajUnsignedInt, uint64(n))
	} else {
		w.head(cbg.MajNegativeInt, uint64(-n-1))
	}
}

func (w *writer) raw(items ...[]byte) {
	for _, item := range items {
		w.Write(item)
	}
}

func (w *writer) indices(lists [][]uint64) {
	w.array(len(lists))
	for _, list := range lists {
		w.array(len(list))
		for _, n := range list {
			w.head(cbg.MajUnsignedInt, n)
		}
	}
}

// header is what of a block header is of use here, with its bytes.
type header struct {
	data      []byte
	cid       cid.Cid
	order     []byte // the ticket's hash, by which the blocks of a tipset stand
	parents   []cid.Cid
	weight    []byte // CBOR of the parents' weight
	height    int64
	stateRoot cid.Cid
	receipts  cid.Cid
	messages  cid.Cid
}

func parseHeader(data []byte) (*header, error) {
	r := reader(data)
	if err := readTuple(r, 16); err != nil {
		return nil, err
	}
	fields := make([]raw, 16)
	for i := range fields {
		if err := fields[i].UnmarshalCBOR(r); err != nil {
			return nil, err
		}
	}
	h := &header{data: data, cid: cidOf(data), weight: fields[6].Raw}
	var err error
	if h.parents, err = readCids(reader(fields[5].Raw)); err != nil {
		return nil, err
	}
	if len(fields[1].Raw) > 1 {
		ticket := reader(fields[1].Raw)
		if err := readTuple(ticket, 1); err != nil {
			return nil, err
		}
		proof, err := cbg.ReadByteArray(ticket, maxItems)
		if err != nil {
			return nil, err
		}
		h.order = cidOf(proof).Hash()
	}
	height, err := readHead(reader(fields[7].Raw), cbg.MajUnsignedInt)
	if err != nil {
		return nil, err
	}
	h.height = int64(height)
	for i, into := range map[int]*cid.Cid{8: &h.stateRoot, 9: &h.receipts, 10: &h.messages} {
		if *into, err = cbg.ReadCid(reader(fields[i].Raw)); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// messageBlock is the form in which a signed message's CBOR is kept and named: without its signature when that is
// BLS (the type byte is 2).
func messageBlock(signed []byte) ([]byte, error) {
	r := reader(signed)
	if err := readTuple(r, 2); err != nil {
		return nil, err
	}
	var message raw
	if err := message.UnmarshalCBOR(r); err != nil {
		return nil, err
	}
	if _, err := readHead(r, cbg.MajByteString); err != nil {
		return nil, err
	}
	kind, err := r.ReadByte()
	if err != nil {
		return nil, err
	}
	if kind == 2 {
		return message.Raw, nil
	}
	return signed, nil
}

// amtWidth: values of a node of the oldest AMT, which the messages of a block are in.
const amtWidth = 8

// buildAmt puts CIDs into an AMT and gives its root and its blocks.
func buildAmt(values []cid.Cid) (cid.Cid, [][]byte) {
	blocks := [][]byte{}
	node := func(links, leaves []cid.Cid) []byte {
		var w writer
		w.array(3)
		w.head(cbg.MajByteString, 1)
		w.WriteByte(byte(1<<(len(links)+len(leaves)) - 1))
		w.cids(links)
		w.cids(leaves)
		return w.Bytes()
	}
	chunks := func(list []cid.Cid) [][]cid.Cid {
		out := [][]cid.Cid{}
		for len(list) > amtWidth {
			out = append(out, list[:amtWidth])
			list = list[amtWidth:]
		}
		return append(out, list)
	}
	level := [][]byte{}
	for _, chunk := range chunks(values) {
		level = append(level, node(nil, chunk))
	}
	height := 0
	for ; len(level) > 1; height++ {
		links := []cid.Cid{}
		for _, data := range level {
			blocks = append(blocks, data)
			links = append(links, cidOf(data))
		}
		level = level[:0]
		for _, chunk := range chunks(links) {
			level = append(level, node(chunk, nil))
		}
	}
	var root writer
	root.array(3)
	root.int(int64(height))
	root.int(int64(len(values)))
	root.raw(level[0])
	blocks = append(blocks, root.Bytes())
	return cidOf(root.Bytes()), blocks
}

// readAmt gives the values of such an AMT in order.
func readAmt(ctx context.Context, load func(context.Context, cid.Cid) ([]byte, error), root cid.Cid) ([]cid.Cid, error) {
	data, err := load(ctx, root)
	if err != nil {
		return nil, err
	}
	r := reader(data)
	if err := readTuple(r, 3); err != nil {
		return nil, err
	}
	for range 2 {
		if _, err := readHead(r, cbg.MajUnsignedInt); err != nil {
			return nil, err
		}
	}
	values := []cid.Cid{}
	var walk func(r *cbg.CborReader) error
	walk = func(r *cbg.CborReader) error {
		if err := readTuple(r, 3); err != nil {
			return err
		}
		var bits raw
		if err := bits.UnmarshalCBOR(r); err != nil {
			return err
		}
		links, err := readCids(r)
		if err != nil {
			return err
		}
		leaves, err := readCids(r)
		values = append(values, leaves...)
		for _, link := range links {
			if err != nil {
				break
			}
			if data, err = load(ctx, link); err == nil {
				err = walk(reader(data))
			}
		}
		return err
	}
	return values, walk(r)
}
