# A server for the models in a folder that is mounted at /models.
#
#     docker build -t kerasrnn-serve .
#     docker run --read-only --cap-drop ALL --security-opt no-new-privileges \
#         -p 127.0.0.1:8080:8080 -v "$PWD/saved_models:/models:ro" kerasrnn-serve
FROM python:3.11-slim AS build
COPY . /src
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir "/src[serve]"

FROM python:3.11-slim
COPY --from=build /venv /venv
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER nobody
EXPOSE 8080
HEALTHCHECK --start-period=10m CMD ["/venv/bin/python", "-c", \
    "import urllib.request as u; u.urlopen('http://127.0.0.1:8080/v2/health/ready')"]
# Nothing that is written outlives the container, so XLA keeps no programs.
ENTRYPOINT ["/venv/bin/kerasrnn-serve", "/models", "--host", "0.0.0.0", "--no-keep-programs"]
