#!/usr/bin/env bash
# Makes an authority and, for each NODE=NAME[,NAME...], a certificate with these host names and IP addresses, and a client
# certificate for each NAME that comes without "=". What is there already is kept.
#
#   deploy/certificates.sh FOLDER a=a.example,10.0.0.1 b=b.example,10.0.0.2 c=c.example,10.0.0.3 alice
#
# The key of the authority, ca.key, stays where it was made. A node needs ca.pem and its own NODE.pem and NODE.key.
set -euo pipefail
umask 077
if [ $# -lt 2 ]; then
	sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
	exit 64
fi
mkdir -p "$1"
cd "$1"
shift

new_key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
if [ ! -e ca.key ]; then
	openssl req -x509 "${new_key[@]}" -days 3650 -subj "/CN=allot authority" -keyout ca.key -out ca.pem 2>/dev/null
	echo "made ca.pem, ca.key"
fi
for one in "$@"; do
	name=${one%%=*}
	[ ! -e "$name.pem" ] || continue
	if [ "$one" = "$name" ]; then
		extensions="extendedKeyUsage=clientAuth"
	else
		names=
		for host in $(tr , ' ' <<<"${one#*=}"); do
			case $host in *[!0-9.]*) kind=DNS ;; *) kind=IP ;; esac
			[[ $host != *:* ]] || kind=IP
			names=$names,$kind:$host
		done
		# A node is a server to some of the others and a client of the rest.
		extensions="extendedKeyUsage=serverAuth,clientAuth
subjectAltName=${names#,}"
	fi
	openssl req "${new_key[@]}" -subj "/CN=$name" -keyout "$name.key" -out "$name.csr" 2>/dev/null
	openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 365 -out "$name.pem" \
		-extfile <(echo "$extensions") 2>/dev/null
	rm "$name.csr"
	echo "made $name.pem, $name.key"
done
if [ ! -e cluster.secret ]; then
	openssl rand -hex 32 >cluster.secret
	echo "made cluster.secret"
fi
