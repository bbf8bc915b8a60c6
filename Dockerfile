# Two images: `app` runs api and worker and has the command `pinrail`, `sandbox` has the simulators and the tools that
# prepare a development chain.
FROM node:24.11.1-bookworm-slim AS base
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
COPY src ./src

# Everything that needs tools happens here. What `app` copies from it is never written again.
FROM base AS packages
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY scripts/image ./scripts/image
RUN node --import tsx scripts/image/bundle.ts workflows.js
RUN node scripts/image/shrink.mjs node_modules

FROM base AS app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=packages /app/workflows.js /app/workflows.js.fingerprint ./
RUN ln -s /app/src/operator/pinrail.mjs /usr/local/bin/pinrail
ENV WORKFLOW_BUNDLE=/app/workflows.js
USER 1000:1000
CMD ["node", "--import", "tsx", "src/main/api.ts"]

FROM base AS sandbox
RUN npm ci --include=dev --ignore-scripts --no-audit --no-fund && npm cache clean --force
COPY scripts ./scripts
RUN mkdir /data && chown 1000:1000 /data
VOLUME /data
USER 1000:1000
CMD ["node", "--import", "tsx", "src/main/sandbox.ts"]
