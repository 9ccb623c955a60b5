"""An adapter of txnfuzz load for SQLite: python3 sqlite.py FILE

STALE=0.02 in the environment plants a bug: that share of the transactions reads from a copy of what this process
has seen before.
"""
import json
import os
import random
import sqlite3
import sys

db = None
stale = float(os.environ.get("STALE", "0"))
copy = {}  # what this process has seen
lying = False


def open_session(r):
    global db
    db = sqlite3.connect(sys.argv[1], timeout=5, isolation_level=None)
    db.execute("PRAGMA synchronous = OFF")  # a crash of the whole system is not tested


def setup(r):  # one process is asked for it, before all the others begin
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("DROP TABLE IF EXISTS kv")
    db.execute("CREATE TABLE kv (k INTEGER PRIMARY KEY, v)")


def begin(r):
    global lying
    db.execute("BEGIN")  # SQLite has one level, which is serializable
    lying = random.random() < stale


def read(r):
    if lying and r["key"] in copy:
        return copy[r["key"]]
    row = db.execute("SELECT v FROM kv WHERE k = ?", (r["key"],)).fetchone()
    copy[r["key"]] = row[0] if row else None
    return copy[r["key"]]


def read_list(r):
    return [int(x) for x in (read(r) or "").split(",") if x]


def write(r):
    db.execute("INSERT INTO kv VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v", (r["key"], r["value"]))


def append(r):
    db.execute("INSERT INTO kv VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = v || ',' || excluded.v",
               (r["key"], str(r["value"])))


def add(r):
    db.execute("UPDATE kv SET v = v + ? WHERE k = ?", (r["value"], r["key"]))


def commit(r):
    db.execute("COMMIT")


def rollback(r):
    db.execute("ROLLBACK")


operations = {"open": open_session, "setup": setup, "begin": begin, "commit": commit, "rollback": rollback,
              "read": read, "read-list": read_list, "write": write, "append": append, "add": add}

for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = {"ok": True, "value": operations[request["op"]](request)}
    except sqlite3.OperationalError as e:
        if db.in_transaction:
            db.execute("ROLLBACK")
        if "locked" not in str(e):
            raise  # txnfuzz shows what Python writes to its standard error
        answer = {"abort": str(e)}
    answer["id"] = request.get("id")  # so that txnfuzz knows what this is the answer to
    print(json.dumps(answer), flush=True)
