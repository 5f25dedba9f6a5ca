# lockbench with a server to test locks on: docker build -t lockbench .
#
#     docker run --rm lockbench run
#     docker run --rm -v "$PWD:/work" --user "$(id -u):$(id -g)" lockbench run run.yaml
#
# The build sees no repository, so that --build-arg VERSION=v1.2.3 says what lockbench version prints.

FROM golang:1.26-alpine AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w -X github.com/lockbench/lockbench/internal/lib/buildinfo.release=$VERSION" -o /lockbench ./cmd/lockbench

# The server's own image, of which the server is most: runs need one beside them, whose
# speed is the embedded one's otherwise, and so nobody's.
FROM redis:7-alpine
COPY --from=build /lockbench /usr/local/bin/lockbench
WORKDIR /work
RUN chown redis:redis /work
USER redis
ENTRYPOINT ["lockbench"]
CMD ["run"]
