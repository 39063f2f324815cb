// A small service: it listens at $HOST and $PORT, as Deadheat asks for.
const { createServer } = require("node:http");

const server = createServer((request, response) => {
  const body = JSON.stringify({ message: "Hello", path: request.url });
  response.writeHead(200, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
});
server.listen(Number(process.env.PORT), process.env.HOST);
