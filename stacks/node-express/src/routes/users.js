export function users(database) {
  return async (request, response) => {
    response.json(await database.firstUsers());
  };
}
