# `app` runs api and worker and has the command `pinrail`; `app-aws` and `app-gcp` also have the packages of a key
# service. `sandbox` has the simulators, and prepares a development chain.
FROM node:24.22.3-bookworm-slim AS base
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json ./

# Everything that needs tools happens here. What the images copy from it is never written again.
FROM base AS build
RUN npm ci --include=dev --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY scripts ./scripts
COPY src ./src
RUN npm run build

FROM base AS packages
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY scripts/image/shrink.mjs ./scripts/image/
RUN node scripts/image/shrink.mjs node_modules

FROM base AS sandbox-packages
COPY scripts/image/sandbox-packages.mjs ./scripts/image/
COPY scripts/setup/subset.mjs ./scripts/setup/
RUN node scripts/image/sandbox-packages.mjs && npm ci --ignore-scripts --no-audit --no-fund
COPY scripts/image/shrink.mjs ./scripts/image/
RUN node scripts/image/shrink.mjs node_modules

FROM base AS aws-packages
WORKDIR /keys
COPY ops/images/aws ./
RUN npm ci --ignore-scripts --no-audit --no-fund

FROM base AS gcp-packages
WORKDIR /keys
COPY ops/images/gcp ./
RUN npm ci --ignore-scripts --no-audit --no-fund

FROM base AS app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist/app ./
RUN ln -s /app/src/operator/pinrail.js /usr/local/bin/pinrail
USER 1000:1000
CMD ["node", "src/main/api.js"]

# Node looks for packages in every folder above the program, so the key service needs no place among the others.
FROM app AS app-aws
COPY --from=aws-packages /keys/node_modules /node_modules

FROM app AS app-gcp
COPY --from=gcp-packages /keys/node_modules /node_modules

FROM base AS sandbox
COPY --from=sandbox-packages /app/node_modules ./node_modules
COPY --from=build /app/dist/sandbox ./
RUN mkdir /data && chown 1000:1000 /data
VOLUME /data
USER 1000:1000
CMD ["node", "src/main/sandbox.js"]
