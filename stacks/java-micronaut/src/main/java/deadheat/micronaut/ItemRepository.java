package deadheat.micronaut;

import io.micronaut.context.annotation.Requires;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/** The items in PostgreSQL. */
@Singleton
@Requires(beans = DataSource.class)
final class ItemRepository {
  private static final String FIND = "select id, name, price from items where id = ?";
  private static final String PAGE =
      "select id, name, price from items where id > ? order by id limit ?";
  private static final String CREATE =
      "insert into items (name, price) values (?, ?) returning id, name, price";
  private static final String REPLACE =
      "update items set name = ?, price = ? where id = ? returning id, name, price";
  private static final String DELETE = "delete from items where id = ?";

  private final DataSource pool;

  ItemRepository(DataSource pool) {
    this.pool = pool;
  }

  Optional<Item> find(int id) throws SQLException {
    return query(FIND, id).stream().findFirst();
  }

  List<Item> page(int after, int limit) throws SQLException {
    return query(PAGE, after, limit);
  }

  Item create(ItemData data) throws SQLException {
    return query(CREATE, data.name(), data.price()).get(0);
  }

  Optional<Item> replace(int id, ItemData data) throws SQLException {
    return query(REPLACE, data.name(), data.price(), id).stream().findFirst();
  }

  /** Whether there was one. */
  boolean delete(int id) throws SQLException {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = prepare(connection, DELETE, id)) {
      return statement.executeUpdate() == 1;
    }
  }

  private List<Item> query(String sql, Object... values) throws SQLException {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = prepare(connection, sql, values);
        ResultSet rows = statement.executeQuery()) {
      List<Item> items = new ArrayList<>();
      while (rows.next()) {
        items.add(new Item(rows.getInt("id"), rows.getString("name"), rows.getInt("price")));
      }
      return items;
    }
  }

  private static PreparedStatement prepare(Connection connection, String sql, Object... values)
      throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int index = 0; index < values.length; index++) {
      statement.setObject(index + 1, values[index]);
    }
    return statement;
  }
}
