CREATE TABLE customers (
  id text PRIMARY KEY,
  mail text NOT NULL UNIQUE
);
ALTER TABLE orders ADD CONSTRAINT orders_customer FOREIGN KEY (customer) REFERENCES customers (id);
