set pagination off
set confirm off
set print thread-events off
set non-stop on
python
import os, threading

pid, tid = os.environ["PID"], int(os.environ["TID"])
gdb.execute("attach " + pid)
maps = [line.split() for line in open("/proc/%s/maps" % pid)]
base = min(int(m[0].split("-")[0], 16) for m in maps if len(m) > 5 and os.path.basename(m[5]) == "@PROGRAM@")
thread = next(t for t in gdb.selected_inferior().threads() if t.ptid[1] == tid)
place = @ADDRESS@


class Place(gdb.Breakpoint):
    executions = 0

    def stop(self):
        self.executions += 1
        if self.executions < @HIT@:
            return False
        print("held: go on with the other sessions, then say: release")
        self.enabled = False
        return True


at = Place("*" + hex(place), type=gdb.BP_HARDWARE_BREAKPOINT)
at.thread = thread.num


class Release(gdb.Command):
    """Lets the held thread go on, and leaves the server."""

    def __init__(self):
        super().__init__("release", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        gdb.execute("detach")
        gdb.execute("quit")


def let_run():
    """Attaching stops one thread after the other: they go on until none is left."""
    if any(not t.is_running() for t in gdb.selected_inferior().threads()):
        gdb.execute("continue -a &")
        look_again()
    else:
        print("armed: send the statement")


def look_again():
    threading.Timer(0.5, lambda: gdb.post_event(let_run)).start()


Release()
look_again()
end
