#!/bin/sh
# Transfers the state of a Galera node to another one on the same file system. The server calls it as joiner, which
# tells where it waits, and as donor, which is told that place.
role= address= data= gtid= domain=0 parent=$$ bypass=
while [ $# -gt 0 ]; do
	case $1 in
	--role) role=$2 && shift ;;
	--address) address=$2 && shift ;;
	--datadir) data=${2%/} && shift ;;
	--gtid) gtid=$2 && shift ;;
	--gtid-domain-id) domain=$2 && shift ;;
	--parent) parent=$2 && shift ;;
	--bypass) bypass=1 ;;
	esac
	shift
done

# The donor is told on its standard input how it could log in, which it has no need of. A server that cannot write that
# gives the transfer up, so somebody reads it.
exec 3<&0
cat <&3 >/dev/null 2>&1 &
exec 3<&-

# until_there FILE waits for a file, as long as the server that has called lives.
until_there() {
	until [ -f "$1" ]; do
		kill -0 "$parent" 2>/dev/null || exit 32
		sleep 0.01
	done
}

if [ "$role" = joiner ]; then
	meeting=${data%/*}/transfer
	rm -rf "$meeting" && mkdir "$meeting" || exit 1
	echo "ready ${address%%/*}$meeting"
	until_there "$meeting/done"
	cat "$meeting/done"
	rm -rf "$meeting"
	exit 0
fi

meeting=/${address#*/}
if [ -z "$bypass" ]; then
	rm -f "$data/tables_flushed"
	echo 'flush tables'
	until_there "$data/tables_flushed"
	read -r gtid flushed <"$data/tables_flushed"
	domain=${flushed:-0}
	to=${meeting%/*}/data
	rm -rf "${to:?}"/* && cp -R "$data/." "$to/" || exit 1
	rm -f "$to/galera.cache" "$to/gvwstate.dat" "$to/grastate.dat" "$to/tables_flushed"
	echo continue
fi
echo "$gtid $domain" >"$meeting/told" && mv "$meeting/told" "$meeting/done" || exit 1
echo "done $gtid"
