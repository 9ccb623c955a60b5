package network

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

const (
	// holderName is the name of the process that holds the namespaces: this program, started once more.
	holderName = "txnfuzz-network"
	answerOK   = "ok"
)

// A holder is known by its name before anything else of the program begins.
func init() {
	if len(os.Args) == 2 && os.Args[0] == holderName {
		os.Exit(holder(os.Args[1]))
	}
}

// holder makes the namespaces, and cuts and heals until its standard input ends, as it does when its owner does.
func holder(places string) int {
	cables, spaces, err := build(places)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(answerOK, strings.Trim(fmt.Sprint(spaces), "[]"))
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		if err := obey(in.Text(), cables); err != nil {
			fmt.Println(err)
		} else {
			fmt.Println(answerOK)
		}
	}
	return 0
}

func obey(line string, cables []netlink.Link) error {
	what, place, _ := strings.Cut(line, " ")
	i, err := strconv.Atoi(place)
	if err != nil || i < 0 || i >= len(cables) {
		return fmt.Errorf("no place %q", place)
	}
	if what == "cut" {
		return netlink.LinkSetDown(cables[i])
	}
	return netlink.LinkSetUp(cables[i])
}

// build joins new namespaces by a bridge in that of the holder. It returns the ends of the cables at the bridge, and
// the descriptors of the namespaces.
func build(places string) (cables []netlink.Link, spaces []int, err error) {
	n, err := strconv.Atoi(places)
	if err != nil {
		return nil, nil, fmt.Errorf("number of places: %w", err)
	}
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "bridge"}}
	if err := netlink.LinkAdd(bridge); err != nil {
		return nil, nil, fmt.Errorf("make a bridge: %w", err)
	}
	if err := netlink.LinkSetUp(bridge); err != nil {
		return nil, nil, fmt.Errorf("make a bridge: %w", err)
	}
	for i := range n {
		space, err := newSpace()
		if err != nil {
			return nil, nil, fmt.Errorf("make a network namespace: %w", err)
		}
		cable := &netlink.Veth{
			LinkAttrs: netlink.LinkAttrs{Name: fmt.Sprintf("place%d", i), MasterIndex: bridge.Index},
			PeerName:  placeEnd, PeerNamespace: netlink.NsFd(int(space)),
		}
		if err := netlink.LinkAdd(cable); err != nil {
			return nil, nil, fmt.Errorf("make a cable: %w", err)
		}
		if err := netlink.LinkSetUp(cable); err != nil {
			return nil, nil, fmt.Errorf("plug in a cable: %w", err)
		}
		if err := furnish(space, i); err != nil {
			return nil, nil, fmt.Errorf("plug in a cable: %w", err)
		}
		cables, spaces = append(cables, cable), append(spaces, int(space))
	}
	return cables, spaces, nil
}

// placeEnd is the name of a cable's end in a place.
const placeEnd = "cable"

// newSpace makes a network namespace, which lives as long as its descriptor.
func newSpace() (netns.NsHandle, error) {
	made := make(chan error)
	var space netns.NsHandle
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread is not one of the holder's namespace any more
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			space, err = netns.Get()
		}
		made <- err
	}()
	return space, <-made
}

// furnish gives a namespace its address.
func furnish(space netns.NsHandle, place int) error {
	h, err := netlink.NewHandleAt(space)
	if err != nil {
		return err
	}
	defer h.Close()
	address, err := netlink.ParseAddr(Address(place) + "/24")
	if err != nil {
		return err
	}
	for _, name := range []string{"lo", placeEnd} {
		link, err := h.LinkByName(name)
		if err != nil {
			return err
		}
		if name == placeEnd {
			if err := h.AddrAdd(link, address); err != nil {
				return err
			}
		}
		if err := h.LinkSetUp(link); err != nil {
			return err
		}
	}
	return nil
}
