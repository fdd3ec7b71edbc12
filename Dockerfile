# The service in an image from scratch: the static program and the certificates
# of public authorities. It runs as an unprivileged user, also with a read-only
# root; its data is in the volume.
#
#     docker build --tag merchant-orders .
#     docker run --read-only --publish 127.0.0.1:8080:8080 --volume orders:/data merchant-orders

FROM golang:1.26 AS build
WORKDIR /src
COPY . .
ARG VERSION=""
RUN OUT=/release VERSION="$VERSION" TARGETS="linux/$(go env GOARCH)" FORMATS=program scripts/release \
    && mkdir -p /image/etc/ssl/certs /image/usr/bin /image/data \
    && cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ \
    && cp /release/merchant-orders_* /image/usr/bin/merchant-orders

FROM scratch
COPY --from=build /image/etc /etc
COPY --from=build /image/usr /usr
COPY --from=build --chown=65532:65532 /image/data /data
ENV PATH=/usr/bin \
    MERCHANT_ORDERS_DATA=/data \
    MERCHANT_ORDERS_LISTEN=0.0.0.0:8080
USER 65532:65532
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["merchant-orders", "health"]
ENTRYPOINT ["merchant-orders"]
CMD ["serve"]
