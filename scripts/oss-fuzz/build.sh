#!/bin/bash -eu
# Runs in the image of OSS-Fuzz or ClusterFuzzLite, which sets OUT and has clang.
cd "$SRC/txnfuzz"
export CLANG="${CC:-clang}"
scripts/libfuzzer build

zip -qj "$OUT/fuzz_parse_seed_corpus.zip" corpus/known/*.sql
seeds=$(mktemp -d)
: >"$seeds/simplest" # no bytes are the simplest case
for i in $(seq 20); do
	head -c 960 <(openssl enc -aes-128-ctr -nosalt -pass "pass:$i" -pbkdf2 </dev/zero 2>/dev/null) >"$seeds/random-$i"
done
zip -qj "$OUT/fuzz_generate_seed_corpus.zip" "$seeds"/*
for name in fuzz_partition fuzz_txn_pair; do
	cp "$OUT/fuzz_generate_seed_corpus.zip" "$OUT/${name}_seed_corpus.zip"
done
# The first two bytes choose a recorded history.
rm "$seeds"/*
for i in $(seq 0 255); do printf "\\x$(printf %02x "$i")\\x00\\x03\\x07" >"$seeds/record-$i"; done
zip -qj "$OUT/fuzz_honest_seed_corpus.zip" "$seeds"/*
rm "$seeds"/*
printf 'CREATE TABLE t (a INT)\n\nRC\nBEGIN\nSELECT * FROM t\nCOMMIT\n\nRR\nBEGIN\nROLLBACK\n\n1-2-1-2-1\nEND\n' >"$seeds/two-blocks"
zip -qj "$OUT/fuzz_blocks_seed_corpus.zip" "$seeds"/*

# The words of a case's text; an input of the others is choices, not text.
grep -ohE '[A-Z]{2,}' corpus/known/*.sql | sort -u | sed 's/.*/"&"/' >"$OUT/fuzz_parse.dict"
cp "$OUT/fuzz_parse.dict" "$OUT/fuzz_blocks.dict"
for name in fuzz_parse fuzz_blocks fuzz_generate fuzz_partition fuzz_honest; do
	printf '[libfuzzer]\nuse_counters = 0\nlen_control = 0\nmax_len = 4096\n' >"$OUT/$name.options"
done
printf '[libfuzzer]\nuse_counters = 0\nlen_control = 0\nmax_len = 1608\ntimeout = 30\nrss_limit_mb = 4096\n' >"$OUT/fuzz_txn_pair.options"
